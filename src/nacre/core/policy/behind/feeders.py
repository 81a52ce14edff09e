"""Programs that run others with words that they find or are given: xargs, find, parallel, watch."""

from nacre.core.policy.behind.inner import Inner
from nacre.core.policy.behind.wrappers import (
    FD_RUNS,
    FIND_RUNS,
    HYPERFINE,
    PARALLEL,
    PERF,
    WATCH,
    XARGS,
    found_path,
    with_unknown,
)
from nacre.core.policy.words import UNKNOWN


class Feeder(Inner):
    def xargs(self) -> None:
        begin = self._after_options(XARGS)
        if begin is None:
            return
        options = [word.text or "" for word in self._words[:begin]]
        places = {"{}"} if "-i" in options or "--replace" in options else set()
        for index, text in enumerate(options):
            if text == "-I" and index + 1 < len(options):
                places.add(options[index + 1])
            elif text.startswith("-I"):
                places.add(text[2:])
            elif text.startswith("--replace="):
                places.add(text[10:])
        places.discard("")
        told = any(text.startswith(("-a", "--arg")) for text in options)
        lead = "./" if self._fed and not told else ""
        self._fed = False
        rest = tuple(with_unknown(word, places, lead) for word in self._words[begin:])
        if rest:
            self._run(rest if places else (*rest, UNKNOWN._replace(lead=lead)))

    def find(self) -> None:
        """-exec and its like run the words up to `;` or `+`."""
        index = 0
        while index < len(self._words):
            if self._words[index].text in FIND_RUNS:
                end = index + 1
                while end < len(self._words) and self._words[end].text not in (";", "+"):
                    end += 1
                words = self._words[index + 1 : end]
                if words:
                    self._run(tuple(found_path(word) for word in words))
                index = end
            index += 1

    def fd(self) -> None:
        """-x and -X run the words behind them, each with a path that was found."""
        for index, word in enumerate(self._words):
            if word.text in FD_RUNS:
                words = [one for one in self._words[index + 1 :] if one.text not in (";", "{}")]
                if words:
                    found = UNKNOWN._replace(lead="./")
                    self._run((*(found_path(one) for one in words), found))
                return

    def parallel(self) -> None:
        """`parallel [options] command ::: words`; without a command the words are lines."""
        texts = [word.text for word in self._words]
        signs = [index for index, text in enumerate(texts) if text in (":::", ":::+", "::::")]
        end = signs[0] if signs else len(texts)
        given = [word for word in self._words[end:] if word.text not in (":::", ":::+", "::::")]
        begin = self._after_options(PARALLEL)
        command = self._words[min(begin or 0, end) : end] if begin is not None else ()
        if len(command) == 1 and (command[0].text is None or " " in command[0].text):
            for word in given or (UNKNOWN,):
                line = (command[0].text or "").replace("{}", word.text or "")
                self._text(line if "{}" in (command[0].text or "") else f"{line} {word.shown}")
        elif command:
            plain = tuple(word for word in command if word.text != "{}")
            self._run((*plain, *(given or (UNKNOWN,))))
        else:
            for word in given:
                self._line(word)

    def watch(self) -> None:
        begin = self._after_options(WATCH)
        if begin is None:
            return
        words = self._words[begin:]
        if any(word.text is None or word.globs for word in words):
            self._resolver.doubt("what watch runs is known only when it runs")
        elif words:
            self._text(" ".join(word.text or "" for word in words))

    def lines(self) -> None:
        """hyperfine: each word that is no option is a line that it runs."""
        begin = self._after_options(HYPERFINE)
        for word in () if begin is None else self._words[begin:]:
            self._line(word)

    def below(self) -> None:
        """perf stat, bear --: a command of its own, or the two dashes, and then the program."""
        words = self._words[1:] if self._words else ()
        if self._words and self._words[0].text not in ("stat", "record", "bench", "--"):
            return
        if self._words and self._words[0].text == "bench":
            return
        self._words = words
        begin = self._after_options(PERF)
        if begin is not None and self._words[begin:]:
            self._run(self._words[begin:])

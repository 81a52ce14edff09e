"""Programs that run what stands behind them: env, sudo, sh -c, eval; builtins that name things."""

import re

from nacre.core.policy.behind.inner import Inner
from nacre.core.policy.behind.wrappers import (
    ACTIVATE,
    COMPOSE_VALUES,
    CONTAINER,
    LINE_OPTION,
    SCRIPT,
    SHELL_OPTIONS,
    Options,
    writes_a_file,
)
from nacre.core.policy.known.far import remote_line
from nacre.core.policy.words import UNKNOWN, Assignment, Word

_SPLITS = re.compile(r"(?:-[i0v]*S|--s[plit-]*string=?|--s)(.*)", re.DOTALL)  # of env
_ENVIRONMENT = re.compile(r"(?:-[itT]*e|--env(?:=|$))(.*)", re.DOTALL)  # of docker exec
_ASKS = re.compile(r"-[a-zA-Z]*p")
# A place in an array whose index is calculated; a text such as "sure? [y/n]" is none.
_CALCULATED = re.compile(r"\w+\[(?!(?:\d+|[@*])\])\S")
# Builtins whose words are names of variables; the second ones give them a value of their own.
NAMING = frozenset(
    (
        *("export", "declare", "typeset", "readonly", "local", "read", "unset"),
        *("mapfile", "readarray"),
    )
)
_SETTING = frozenset(("read", "unset", "mapfile", "readarray"))


class Prefix(Inner):
    def prefix(self, options: Options) -> None:
        """`wrapper [options] command …`"""
        if [word.text for word in self._words] in (["--version"], ["--help"]):
            return
        line_option = LINE_OPTION.get(self._via[-1])
        if line_option and self._line_after(line_option):
            return
        begin = self._after_options(options)
        if begin is None:
            return
        if self._via[-1] == "env" and (line := self._split_line(begin)) is not None:
            self._text(line)
            return
        for word in self._words[:begin]:
            if options.writing and writes_a_file(word.text or "", options):
                self._resolver.doubt(f"where {self._via[-1]} {word.raw[:20]} leads is not known")
        begin += options.words
        rest = self._words[begin:]
        if line_option and len(rest) == 2 and rest[0].text == line_option:
            self._line(rest[1])
        elif rest:
            self._run(rest)

    def _split_line(self, begin: int) -> str | None:
        """Return the words of env -S as a line."""
        for index, word in enumerate(self._words[:begin]):
            found = _SPLITS.match(word.text or "")
            if found is not None:
                self._resolver.doubt("env -S reads its words in its own way")
                rest = [one.shown for one in self._words[index + 1 :]]
                return " ".join((*filter(None, (found[1],)), *rest))
        return None

    def lines_only(self) -> None:
        self._line_after("-c")

    def command_builtin(self) -> None:
        texts = [word.text for word in self._words]
        if texts and texts[0] in ("-v", "-V", "-pv", "-pV"):
            return
        rest = self._words[1:] if texts and texts[0] == "-p" else self._words
        if rest and (rest[0].text or "").startswith("-") and rest[0].text != "--":
            self._resolver.doubt(f"it is not known what {rest[0].raw} does in {self._name}")
            return
        rest = rest[1:] if rest and rest[0].text == "--" else rest
        if rest:
            self._run(rest)

    def shell(self) -> None:
        """`sh -c LINE`: the line is the first word that is no option. The rest reads a script."""
        if [word.text for word in self._words] == ["--version"]:
            return
        if self._words and self._words[0].text == "-n" and self._only_reads(self._words[1:]):
            return
        index, line = 0, False
        while index < len(self._words):
            text = self._words[index].text
            if text is None:
                break
            if text in SHELL_OPTIONS:
                index += 1
            elif text in ("-o", "+o", "-O", "+O"):
                index += 2
            elif text[:1] in ("-", "+") and len(text) > 1 and not text.startswith("--"):
                line = line or (text[0] == "-" and "c" in text)
                index += 1 + text.count("o") + text.count("O")
            else:
                index += text == "--"
                break
        if line:
            self._line_at(index)
        elif index == 0 and self._words and SCRIPT.fullmatch(self._words[0].text or ""):
            self._run(self._words)
        else:
            self._resolver.doubt(f"what {self._via[-1]} reads is not known")

    @staticmethod
    def _only_reads(words: tuple[Word, ...]) -> bool:
        """Return whether sh -n has files to check, and no option that could undo it."""
        return bool(words) and not any(
            word.may_be_option or (word.text or word.lead)[:1] in ("-", "+") for word in words
        )

    def eval(self) -> None:
        words = self._words[1:] if self._words and self._words[0].text == "--" else self._words
        if any(word.text is None or word.globs for word in words):
            self._resolver.doubt("what eval runs is known only when it runs")
            return
        if words:
            self._text(" ".join(word.text or "" for word in words))

    def trap(self) -> None:
        words = self._words[1:] if self._words and self._words[0].text == "--" else self._words
        if len(words) > 1 and words[0].text not in ("-", "", "-p", "-l"):
            self._line(words[0])

    def alias(self) -> None:
        for word in self._words:
            name, equals, line = (word.text or "").partition("=")
            if name and equals:
                self._text(line)

    def names(self) -> None:
        """Their words name variables: NAME=value, or NAME alone."""
        before = ""
        for word in self._words:
            asks, before = self._via[-1] == "read" and _ASKS.fullmatch(before), word.shown
            if asks:
                continue  # read -p "Sure? [y/n] "
            if word.text is None or word.globs:
                if self._via[-1] != "unset" or "[" in word.raw:
                    self._resolver.doubt(f"what {self._via[-1]} sets is known only when it runs")
            elif not word.text.startswith("-"):
                name, equals, value = word.text.partition("=")
                known = Word(value, value) if equals else UNKNOWN
                if _CALCULATED.match(name):
                    self._resolver.doubt(f"{self._via[-1]} calculates what stands between [ and ]")
                if equals or self._via[-1] in _SETTING:
                    self._resolver.assign(Assignment(name, known))

    def far(self) -> None:
        """ssh: the line for the other machine, if it is known. Else a rule must know better."""
        line = remote_line(self._words)
        if line is not None:
            self._resolver.far(line, self._via, self._depth, self._at)

    def in_container(self) -> None:
        """docker exec, docker compose exec and run: what runs in a container of the project."""
        texts = [word.text for word in self._words]
        compose = self._via[-1] == "docker-compose" or texts[:1] == ["compose"]
        index = 1 if texts[:1] == ["compose"] else 0
        while compose and index < len(texts) and texts[index] in COMPOSE_VALUES:
            index += 2
        if texts[index : index + 1] not in (["exec"], ["run"] if compose else ["exec"]):
            return
        self._words = self._words[index + 1 :]
        begin = self._after_options(CONTAINER)
        if begin is None:
            return
        given = self._words[:begin]
        for index, word in enumerate(given):
            if (found := _ENVIRONMENT.match(word.text or "")) is not None:
                text = found[1] or "".join(one.shown for one in given[index + 1 : index + 2])
                name, _, value = text.partition("=")
                self._resolver.assign(Assignment(name, Word(value, value)))
        if self._words[begin + 1 :]:
            self._run(self._words[begin + 1 :])

    def behind_dashes(self) -> None:
        """mise exec [TOOL@VERSION …] -- command: what stands behind the dashes."""
        texts = [word.text for word in self._words]
        if texts[:1] not in (["exec"], ["x"]):
            return
        begin = texts.index("--") if "--" in texts else len(texts)
        if begin + 1 >= len(texts) or any("@" not in (text or "") for text in texts[1:begin]):
            self._resolver.doubt(f"what {self._via[-1]} runs is not known")
        else:
            self._run(self._words[begin + 1 :])

    def all_words(self) -> None:
        if self._words:
            self._run(self._words)

    def reads_a_script(self) -> None:
        if not (len(self._words) == 1 and ACTIVATE.fullmatch(self._words[0].text or "")):
            self._resolver.doubt(f"what {self._via[-1]} reads is not known")

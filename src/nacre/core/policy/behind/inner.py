"""The words of a program that runs others, and the ways in which it does: a program, or a line.

Rule: an option that is not listed may take a value, and then nobody knows where the inner command
begins: a doubt.
"""

from typing import Protocol

from nacre.core.policy.behind.wrappers import Options, is_assignment, words_of_group
from nacre.core.policy.words import Assignment, SimpleCommand, Word


class Resolver(Protocol):
    """Who takes what was found behind a wrapper."""

    def line(self, text: str, via: tuple[str, ...], depth: int, at: int | None) -> None: ...
    def far(self, text: str, via: tuple[str, ...], depth: int, at: int) -> None: ...
    def command(self, command: SimpleCommand, via: tuple[str, ...], depth: int) -> None: ...
    def doubt(self, why: str) -> None: ...
    def assign(self, assignment: Assignment) -> None: ...


class Inner:
    """The words of a wrapper, and what it runs."""

    def __init__(
        self,
        resolver: Resolver,
        command: SimpleCommand,
        via: tuple[str, ...],
        depth: int,
    ) -> None:
        self._resolver = resolver
        self._name = command.words[0].text or ""
        self._words = command.words[1:]
        self._via = via
        self._depth = depth
        self._at = command.at
        self._reach = command.reach
        self._fed = command.fed

    def _after_options(self, options: Options) -> int | None:
        """Return where the words begin that are no options; None: nobody can tell."""
        index = 0
        while index < len(self._words):
            word = self._words[index]
            text = word.text
            if text is None:
                # A variable may hold an option, and no more is known after it.
                if word.may_be_option:
                    self._unknown(word)
                    return None
                return index
            if text == "--":
                return index + 1
            if options.assigns and is_assignment(text):
                name, _, value = text.partition("=")
                self._resolver.assign(Assignment(name, Word(value, value)))
                index += 1
            elif text.startswith("--"):
                name, equals, _ = text.partition("=")
                if name in options.long_values and not equals:
                    index += 2
                elif name in options.long or name in options.long_values:
                    if name == "--tool" and "/" in text:
                        self._unknown(word)
                    index += 1
                else:
                    # A doubt; for what it forbids, the command is looked for behind it.
                    self._unknown(word)
                    index += 1
            elif text.startswith("-") and len(text) > 1:
                step = words_of_group(text[1:], options)
                if step is None:
                    self._unknown(word)
                index += step or 1
            else:
                return index
        return index

    def _unknown(self, word: Word) -> None:
        self._resolver.doubt(f"it is not known what {word.raw[:40]} does in {self._via[-1]}")

    def _line_after(self, option: str) -> bool:
        for index, word in enumerate(self._words):
            text = word.text or ""
            if text == option or (text[:1] == "-" and text[1:2] != "-" and text.endswith("c")):
                self._line_at(index + 1)
                return True
        return False

    def _line_at(self, index: int) -> None:
        if index >= len(self._words):
            self._resolver.doubt(f"{self._via[-1]} has no line to run")
        else:
            self._line(self._words[index])

    def _line(self, word: Word) -> None:
        if word.text is None or word.globs:
            self._resolver.doubt(f"the line that {self._via[-1]} runs is known only when it runs")
        else:
            self._text(word.text)

    def _text(self, line: str) -> None:
        self._resolver.line(line, self._via, self._depth, self._at)

    def _run(self, words: tuple[Word, ...]) -> None:
        self._resolver.command(
            SimpleCommand(words, (), self._at, self._reach, self._fed), self._via, self._depth
        )

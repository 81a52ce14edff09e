"""What a caller gave, as the words of a program.

Rule: unknown and missing arguments are errors, and a value of the wrong kind too: a command that
runs with something else than was meant is worse than none.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from nacre.core.commands.entry import CommandArgument, CommandEntry
from nacre.errors import InvalidInput


class Bound(NamedTuple):
    """An argument with what was given for it, as texts."""

    argument: CommandArgument
    values: tuple[str, ...]


def bind(entry: CommandEntry, given: Mapping[str, Any]) -> list[Bound]:
    """Find the argument for each value, in the order of the entry. Raises InvalidInput."""
    wanted: dict[str, Any] = {}
    for name, value in given.items():
        argument = entry.argument(name)
        if argument is None:
            free = [one.name for one in entry.args if one.name not in given]
            names = get_close_matches(name.lower(), free, n=2)
            likely = f"did you mean {' or '.join(names)}? " if names else ""
            raise InvalidInput(f"{entry.name} has no argument {name!r}", likely + _takes(entry))
        if argument.name in wanted:
            raise InvalidInput(
                f"{name} is {argument.name} of {entry.name}, which is given too", "give one of them"
            )
        if value is not None:
            wanted[argument.name] = value
    bound = []
    for argument in entry.args:
        value = wanted.get(argument.name, argument.default)
        if value is None:
            if argument.required:
                raise InvalidInput(
                    f"{entry.name} needs the argument {argument.name!r}", _takes(entry)
                )
            continue
        bound.append(Bound(argument, _texts(entry, argument, value)))
    return [one for one in bound if one.values]


def argv_of(entry: CommandEntry, bound: list[Bound]) -> list[str]:
    """Return the program and its words. Raises InvalidInput for one that would be an option."""
    words = [entry.program or entry.name, *entry.fixed]
    apart = False
    for argument, values in bound:
        if argument.positional and entry.separator and not apart:
            words.append("--")
            apart = True
        words += _words(entry, argument, values, apart=apart)
    return words


def _words(
    entry: CommandEntry, argument: CommandArgument, values: tuple[str, ...], *, apart: bool
) -> list[str]:
    if argument.words:
        return [word for value in values for word in argument.words[value].split()]
    if argument.type == "switch":
        return argument.option.split()
    if argument.type == "path":
        # A lone - is standard input to most programs, behind -- too; a=b is a variable to awk.
        values = tuple(f"./{one}" if _is_no_file(one) else one for one in values)
    if argument.option.endswith("="):
        return [argument.option + value for value in values]
    if argument.option:
        return [word for value in values for word in (argument.option, value)]
    for value in values:
        if value.startswith("-") and not (apart or entry.builtin):
            raise InvalidInput(
                f"{argument.name} of {entry.name} cannot begin with '-': {entry.program} would "
                "take it for an option",
                "leave the - out",
            )
    return list(values)


def _is_no_file(path: str) -> bool:
    """Return whether a program may take a path for something else."""
    return path.startswith("-") or ("=" in path and path.split("=", 1)[0].isidentifier())


def from_words(entry: CommandEntry, words: Sequence[str]) -> dict[str, Any]:
    """Return the arguments that a program's words stand for: options, then what is positional.

    Raises InvalidInput for an option that the command does not have, and for a word too many.
    """
    found: dict[str, Any] = {}
    rest = deque(words)
    positional: list[str] = []
    plain = False
    while rest:
        word = rest.popleft()
        if not plain and word == "--":
            plain = True
        elif not plain and len(word) > 1 and word.startswith("-") and not entry.builtin:
            _take_option(entry, word, rest, found)
        else:
            positional.append(word)
    return {**found, **_share_out(entry, positional)}


def _share_out(entry: CommandEntry, words: list[str]) -> dict[str, Any]:
    """Give words to the positional arguments: each required one has its own before others do."""
    found: dict[str, Any] = {}
    wanted = [one for one in entry.args if one.positional]
    spare = len(words) - sum(one.required for one in wanted)
    rest = deque(words)
    for argument in wanted:
        if not rest or (spare <= 0 and not argument.required):
            continue
        if argument.many:
            count = max(0, spare) + (1 if argument.required else 0)
            found[argument.name] = [rest.popleft() for _ in range(count)]
            spare = 0
        else:
            found[argument.name] = rest.popleft()
            spare -= 0 if argument.required else 1
    if rest:
        raise InvalidInput(f"{entry.name} takes no further word {rest[0]!r}", _takes(entry))
    return found


def _take_option(entry: CommandEntry, word: str, rest: deque[str], found: dict[str, Any]) -> None:
    for one in entry.args:
        for choice, wanted in one.words.items():
            name, _, value = wanted.partition(" ")
            if word == wanted or (word == name and value and rest and rest[0] == value):
                if word != wanted:
                    rest.popleft()
                found[one.name] = choice
                return
        if not one.option:
            continue
        if one.type == "switch" and word == one.option.split()[0]:
            found[one.name] = True
            return
        if one.option.endswith("=") and (
            word.startswith(one.option) or (word + "=" == one.option and rest)
        ):
            given = word[len(one.option) :] if word.startswith(one.option) else rest.popleft()
            _add(one, given, found)
            return
        if word == one.option and rest:
            _add(one, rest.popleft(), found)
            return
    if len(word) > 2 and word[1] != "-" and word[1:].isalnum():
        # -la: several letters in one word; -n5: a letter with its value.
        head, tail = word[:2], word[2:]
        taking = next((one for one in entry.args if one.option == head), None)
        if taking is not None and taking.type != "switch":
            _add(taking, tail, found)
            return
        if taking is not None:
            found[taking.name] = True
            _take_option(entry, f"-{tail}", rest, found)
            return
    raise InvalidInput(f"{entry.name} has no option {word!r}", _takes(entry))


def _add(argument: CommandArgument, value: str, found: dict[str, Any]) -> None:
    if argument.many:
        found.setdefault(argument.name, []).append(value)
    else:
        found[argument.name] = value


def _texts(entry: CommandEntry, argument: CommandArgument, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return _text(entry, argument, value)
    if not argument.many:
        raise _wrong(entry, argument, "is one value, not a list")
    return tuple(text for one in value for text in _text(entry, argument, one))


def _text(entry: CommandEntry, argument: CommandArgument, value: Any) -> tuple[str, ...]:
    kind = argument.type
    if kind == "switch":
        if value in ("true", "false"):
            value = value == "true"
        if not isinstance(value, bool):
            raise _wrong(entry, argument, "is true or false")
        return ("",) if value else ()
    if kind in ("integer", "number"):
        return (_number(entry, argument, value),)
    if isinstance(value, bool | dict | list) or (
        isinstance(value, int | float) and kind in ("path", "name", "choice")
    ):
        raise _wrong(entry, argument, "is a text")
    text = str(value)
    if argument.words and text not in argument.words:
        raise _wrong(entry, argument, f"is one of {', '.join(argument.words)}")
    if kind in ("path", "name") and not text:
        raise _wrong(entry, argument, "cannot be empty")
    return (text,)


def _number(entry: CommandEntry, argument: CommandArgument, value: Any) -> str:
    whole = argument.type == "integer"
    noun = "an integer" if whole else "a number"
    try:
        if isinstance(value, bool):
            raise ValueError
        if whole and isinstance(value, float) and value.is_integer():  # JSON's 10.0 is 10
            value = int(value)
        if whole and (
            not isinstance(value, int | str) or (isinstance(value, str) and len(value) > 18)
        ):
            raise ValueError
        number: float = int(value) if whole else float(value)
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise _wrong(entry, argument, f"is {noun}") from error
    if argument.least is not None and number < argument.least:
        raise _wrong(entry, argument, f"is at least {argument.least:g}")
    if argument.most is not None and number > argument.most:
        raise _wrong(entry, argument, f"is at most {argument.most:g}")
    # All digits: :g keeps six of them, and 1234567 would be 1234570.
    return str(int(number)) if whole or number.is_integer() else repr(number)


def _wrong(entry: CommandEntry, argument: CommandArgument, problem: str) -> InvalidInput:
    return InvalidInput(f"{argument.name} of {entry.name} {problem}")


def _takes(entry: CommandEntry) -> str:
    if not entry.args:
        return "it takes no arguments"
    return f"it takes: {', '.join(one.name for one in entry.args)}"

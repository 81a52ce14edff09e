"""The next steps that a caller is told, as data, and how a door puts them into words.

Rule 1: only a door writes the name of a tool, a command, a flag or a route into a sentence. What
happened is text without such names; the next steps are data beside it.
Rule 2: a step that a caller cannot take at its door is left out, or another one takes its place.
Rule 3: `next` on a wire has what can be called, each in one flat shape. Steps that are no call
stand in the message alone, and so do facts.
Rule 4: this file imports almost nothing: every command line loads it.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

_LONGEST = 1200  # characters of a message: what happened and the quoted words, with room to spare
_QUOTING = ("command",)  # details that do, too
_END = 400  # characters of its end, where it says what is wrong with what it quotes

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def quoted(text: str) -> str:
    """Return a text with its middle left out and counted, if it is too long for a message."""
    if len(text) <= _LONGEST:
        return text
    left_out = len(text) - _LONGEST
    return f"{text[: _LONGEST - _END]}[… {left_out} characters left out …]{text[-_END:]}"


class Use(NamedTuple):
    """Call an operation; `to` says what for, `otherwise` what to do if it is not offered."""

    operation: str
    to: str
    params: Mapping[str, Any] = _NOTHING
    otherwise: "Use | None" = None


class Omit(NamedTuple):
    """Leave parameters out; `to` says what that does."""

    parameters: tuple[str, ...]
    to: str


class Give(NamedTuple):
    """Do something by these parameters; `to` says what."""

    parameters: tuple[str, ...]
    to: str


class Higher(NamedTuple):
    """Ask again with a higher number; `to` says what comes of it."""

    parameter: str
    to: str


class Meant(NamedTuple):
    """Look whether these parameters are what was meant."""

    parameters: tuple[str, ...]


class Takes(NamedTuple):
    """Which parameters there are."""

    operation: str | None
    parameters: tuple[str, ...]


NextStep = str | Use | Omit | Give | Higher | Meant | Takes  # a text is true at every door


class Hint(str):
    """A text with next steps, in a result. It cannot be encoded without a door's Words."""

    __slots__ = ("next",)
    next: tuple[NextStep, ...]

    def __new__(cls, text: str, *steps: NextStep) -> "Hint":
        hint = super().__new__(cls, text)
        hint.next = steps
        return hint


def also(told: str | None, more: str | None) -> str | None:
    """Return two hints as one: both texts, then the steps of both."""
    if told is None or more is None:
        return more if told is None else told
    steps = [step for hint in (told, more) if isinstance(hint, Hint) for step in hint.next]
    return Hint(f"{told}; {more}", *steps)


class Told(Protocol):
    """The parts of an error that Words needs."""

    code: str
    message: str
    next: tuple[NextStep, ...]
    details: dict[str, Any]
    parameters: tuple[str, ...]  # the message begins with these if it is about parameters
    problem: str  # and continues with this


class Words:
    """How a door words errors and hints. This one names operations, as the sockets do."""

    # --- what differs from door to door ------------------------------------------------------

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        """Return how to call an operation at this door; None if it is not offered."""
        return with_json(operation, params)

    def use(self, call: str, to: str) -> str:
        return f"{to} with {call}"

    def parameter(self, name: str) -> str:
        """Return a parameter's name at this door; the name may be a path: spans[0].text."""
        return name

    def takes(self, step: Takes) -> str | None:
        names = ", ".join(map(self.parameter, step.parameters))
        return f"{step.operation or 'it'} takes{f': {names}' if names else ' no parameters'}"

    def give(self, step: Give) -> str | None:
        return f"{step.to} with {' and '.join(map(self.parameter, step.parameters))}"

    def problem(self, error: Told) -> str:
        return error.problem

    def join(self, steps: list[str]) -> str:
        """Join alternative steps into one clause."""
        return steps[0] if len(steps) == 1 else f"{', '.join(steps[:-1])}, or {steps[-1]}"

    # --- sentences ---------------------------------------------------------------------------

    def sentence(self, text: str, steps: Iterable[NextStep]) -> str:
        """Return a text with the next steps that this door offers."""
        steps = list(steps)
        ways = [way for one in steps if not isinstance(one, Takes) and (way := self._step(one))]
        known = [told for one in steps if isinstance(one, Takes) and (told := self.takes(one))]
        for clause in (*([self.join(ways)] if ways else []), *known):
            text += f"{'' if text.endswith('?') else ';'} {clause}"
        return text

    def hint(self, hint: Hint) -> Any:
        return self.sentence(str(hint), hint.next)

    def message(self, error: Told) -> str:
        """Return the whole sentence: what happened, and the next step."""
        text = error.message
        if error.parameters:
            named = " and ".join(map(self.parameter, error.parameters))
            text = f"{named} {self.problem(error)}"
        return self.sentence(text, error.next)

    def error(self, error: Told) -> dict[str, Any]:
        """Return the one JSON shape that an error has everywhere."""
        told = {"code": error.code, "message": self.message(error), **self.details(error)}
        steps = self.next(error.next)
        return {**told, "next": steps} if steps else told

    def next(self, steps: Iterable[NextStep]) -> list[Any]:
        """Return what can be called here, as data."""
        uses = [self._offered(step) for step in steps if isinstance(step, Use)]
        return [self.as_call(use) for use in uses if use is not None]

    def as_call(self, use: Use) -> dict[str, Any]:
        return {"operation": use.operation, "params": dict(use.params), "why": use.to}

    def details(self, error: Told) -> dict[str, Any]:
        """Return the error's fields, with the names of parameters at this door.

        What they quote of a request is cut, as in the message; the audit has it whole.
        """
        named = {
            key: [self.parameter(name) for name in names]
            for key in ("parameters", "takes")
            if isinstance(names := error.details.get(key), list)
        }
        told = {**error.details, **named}
        for name in _QUOTING:
            if isinstance(value := told.get(name), str):
                told[name] = quoted(value)
        return told

    def encode(self, value: Any) -> Any:
        """Encode types that msgspec does not know; this is its enc_hook."""
        if isinstance(value, Hint):
            return self.hint(value)
        raise NotImplementedError(f"{type(value).__name__} is not for a wire")

    def _step(self, step: NextStep) -> str | None:
        if isinstance(step, Omit):
            return f"leave {' and '.join(map(self.parameter, step.parameters))} out {step.to}"
        if isinstance(step, Give):
            return self.give(step)
        if isinstance(step, Higher):
            return f"{step.to} with a higher {self.parameter(step.parameter)}"
        if isinstance(step, Meant):
            return f"did you mean {' or '.join(map(self.parameter, step.parameters))}?"
        if not isinstance(step, Use):
            return str(step)
        use = self._offered(step)
        call = None if use is None else self.call(use.operation, use.params)
        return None if use is None or call is None else self.use(call, use.to)

    def _offered(self, step: Use) -> Use | None:
        """Return the first of a step and its alternatives that can be called here."""
        use: Use | None = step
        while use is not None and self.call(use.operation, use.params) is None:
            use = use.otherwise
        return use


class Unworded(Words):
    """For a client that words errors itself: texts as they are, and the steps as data."""

    def hint(self, hint: Hint) -> Any:
        return {"text": str(hint), "next": self.next(hint.next)}

    def message(self, error: Told) -> str:
        return error.message

    def next(self, steps: Iterable[NextStep]) -> list[Any]:
        return [as_data(step) for step in steps if not isinstance(step, Takes)]

    def error(self, error: Told) -> dict[str, Any]:
        told = super().error(error)
        return {**told, "problem": error.problem} if error.parameters else told


OPERATIONS = Words()
UNWORDED = Unworded()


def with_json(name: str, params: Mapping[str, Any]) -> str:
    if not params:
        return name
    import json

    return f"{name} {json.dumps(dict(params), ensure_ascii=False)}"


# --- steps for a client with words of its own ----------------------------------------------------


def as_data(step: NextStep) -> Any:
    """Return a step as a JSON value."""
    if isinstance(step, Use):
        data = {"operation": step.operation, "to": step.to, "params": dict(step.params)}
        return data if step.otherwise is None else {**data, "otherwise": as_data(step.otherwise)}
    if isinstance(step, Omit):
        return {"omit": list(step.parameters), "to": step.to}
    if isinstance(step, Give):
        return {"give": list(step.parameters), "to": step.to}
    if isinstance(step, Higher):
        return {"higher": step.parameter, "to": step.to}
    if isinstance(step, Meant):
        return {"meant": list(step.parameters)}
    return step


def from_data(data: Any) -> NextStep:
    """Return the step that as_data wrote; unknown fields from a newer daemon are ignored."""
    if not isinstance(data, dict):
        return str(data)
    if "omit" in data:
        return Omit(tuple(data["omit"]), data["to"])
    if "give" in data:
        return Give(tuple(data["give"]), data["to"])
    if "higher" in data:
        return Higher(data["higher"], data["to"])
    if "meant" in data:
        return Meant(tuple(data["meant"]))
    other = data.get("otherwise")
    otherwise = from_data(other) if other is not None else None
    use = Use(data["operation"], data["to"], data["params"])
    return use._replace(otherwise=otherwise) if isinstance(otherwise, Use) else use

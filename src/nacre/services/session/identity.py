"""How a session is referred to: its name, its id, its port."""

from dataclasses import dataclass


@dataclass(slots=True)
class Identity:
    name: str
    id: str
    port: int
    named: bool  # somebody chose the name
    keep: bool
    tags: tuple[str, ...] = ()

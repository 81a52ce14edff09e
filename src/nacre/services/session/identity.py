"""How a session is referred to: its name, its id, its port."""

from msgspec import Struct


class Identity(Struct):
    name: str
    id: str
    port: int
    named: bool  # somebody chose the name
    keep: bool
    tags: tuple[str, ...] = ()

"""nacre: the terminal for AI agents.

`nacre.Client` and `nacre.connect()` are the client library (docs/client.md). They are loaded when
somebody asks for them, because every command of the command line imports this file.
"""

__version__ = "0.1.0"

_LATE = {
    "Client": ("nacre.library.client", "AsyncClient"),
    "connect": ("nacre.library.sync", "connect"),
}


def __getattr__(name):  # type: ignore[no-untyped-def]  # __init__.pyi has the types
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LATE[name]
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *_LATE})

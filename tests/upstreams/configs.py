"""Tables of config.toml that run the servers of this folder."""

import json
import sys
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def odd(name: str, how: str = "plain", **more: Any) -> str:
    """Return the table of a server that does what `how` says."""
    return table(name, command=sys.executable, args=[str(_HERE / "odd_server.py"), how], **more)


def sdk(name: str, **more: Any) -> str:
    """Return the table of the server by the official SDK."""
    script = str(_HERE / "sdk_server.py")
    return table(name, command=sys.executable, args=[script, "stdio"], **more)


def table(name: str, **keys: Any) -> str:
    lines = [f"[mcp_servers.{name}]"]
    for key, value in keys.items():
        if isinstance(value, dict):
            pairs = ", ".join(f"{one} = {json.dumps(text)}" for one, text in value.items())
            lines.append(f"{key} = {{ {pairs} }}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join([*lines, ""])

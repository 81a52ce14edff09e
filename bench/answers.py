"""How long answers are, as a host gets them: the text, the structured content, the whole message.

The protocol sends a result twice, as text and structured; a host hands one of the two to its model.
The budget (max_result_chars) holds for each of them.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from scratch import scratch_environment, table
from stdio_client import StdioClient

_SESSIONS = 50

# Every cell in a colour of its own.
_RAINBOW = (
    'awk \'BEGIN {{ for (y = 0; y < 400; y++) {{ if (y) printf "\\n"; for (x = 0; x < {cols}; x++) '
    'printf "\\033[38;2;%d;%d;%dm#", x, y % 256, (x + y) % 256 }} }}\'; exec cat'
)


def main() -> None:
    rows: list[tuple[object, ...]] = [("answer", "text", "structured", "message")]
    with scratch_environment() as env:
        with StdioClient(env, "--toolsets", "all") as client:
            rows += _screens(client, 24, 80)
            rows += _screens(client, 60, 200)
            rows.append(_run(client))
            rows.append(_list(client))
        for toolset in ("terminal", "shell", "apps", "extra", "all"):
            with StdioClient(env, "--toolsets", toolset) as client:
                rows.append(_tools(client, toolset))
    table(*rows)


def _screens(client: StdioClient, rows: int, cols: int) -> list[tuple[object, ...]]:
    command = _RAINBOW.format(cols=cols)
    created = _call(client, "create_session", command=command, rows=rows, cols=cols)
    name = created["structuredContent"]["session"]
    _call(client, "wait_for", session=name, quiet_ms=1000, timeout_ms=30_000)
    size = f"{rows}x{cols}, coloured"
    return [
        _row(f"get_screen {size}", _call(client, "get_screen", session=name)),
        _row(f"get_scrollback {size}", _call(client, "get_scrollback", session=name)),
    ]


def _run(client: StdioClient) -> tuple[object, ...]:
    port = _call(client, "start_session", shell="bash")["structuredContent"]["port"]
    return _row("run seq 1 1500000", _call(client, "run", port=port, command="seq 1 1500000"))


def _list(client: StdioClient) -> tuple[object, ...]:
    there = len(_call(client, "list_sessions")["structuredContent"]["sessions"])
    for _ in range(_SESSIONS - there):
        _call(client, "create_session", command="exec cat")
    return _row(f"list_sessions, {_SESSIONS} of them", _call(client, "list_sessions"))


def _tools(client: StdioClient, toolset: str) -> tuple[object, ...]:
    listed = client.request("tools/list", {})
    return f"tools/list {toolset}, {len(listed['tools'])} tools", "", "", _size(listed)


def _call(client: StdioClient, tool: str, **arguments: Any) -> dict[str, Any]:
    result = client.request("tools/call", {"name": tool, "arguments": arguments})
    assert not result.get("isError"), result
    return result


def _row(what: str, result: dict[str, Any]) -> tuple[object, ...]:
    text = sum(len(block["text"]) for block in result["content"] if block["type"] == "text")
    return what, text, _size(result.get("structuredContent")), _size(result)


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()

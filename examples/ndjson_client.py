"""A client of nacre's NDJSON door: all operations, one after the other.

    NACRE_NDJSON_ENABLED=1 nacre server
    python examples/ndjson_client.py [--port 9000] [--token TOKEN]

The token is in the file that `nacre status` names; none is needed with NACRE_NDJSON_AUTH=off.
"""

import argparse
import json
import socket
from typing import Any


class Client:
    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((host, port))
        self._lines = self._socket.makefile("rb")
        self._last = 0
        self.notifications: list[dict[str, Any]] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request; raises RuntimeError with the error's sentence."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        self._socket.sendall(json.dumps(message).encode() + b"\n")
        while line := self._lines.readline():
            answer = json.loads(line)
            if answer["type"] == "notification":
                self.notifications.append(answer)
            elif answer["id"] == self._last:
                if answer["type"] == "error":
                    raise RuntimeError(answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
        raise RuntimeError("the door has closed")

    def call(self, tool: str, **args: Any) -> dict[str, Any]:
        return self.ask("call_tool", tool=tool, args=args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--token")
    given = parser.parse_args()
    client = Client(given.port)
    print("server:", client.ask("initialize", token=given.token)["server"])
    print("tools:", len(client.ask("list_tools")["tools"]))
    print("folder:", client.call("pwd")["output"].strip())
    done = client.call("uname")
    status = client.ask("get_execution_status", execution_id=done["execution_id"])
    print("status:", status["status"], "exit code:", status["exit_code"])
    over = client.ask("cancel_execution", execution_id=done["execution_id"])
    print("cancelled:", over["cancelled"])
    try:
        client.call("rm", path="x")
    except RuntimeError as refused:
        print("refused:", refused)
    print("heard:", ", ".join(one["event"] for one in client.notifications))


if __name__ == "__main__":
    main()

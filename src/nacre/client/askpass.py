"""Ask a person for a password, for sudo -A, ssh and git in a session: what SUDO_ASKPASS names.

Rule 1: the answer goes to standard output, and nowhere else. Without one the exit code is 1.
Rule 2: it knows a socket that takes questions, and the session's cookie: nothing by which anything
else could be done.
Rule 3: it runs by itself, without the package: python -I -S askpass.py PROMPT.
"""

import json
import os
import socket
import sys

_LONGEST = 65536  # bytes of an answer


def main() -> int:
    path = os.environ.get("NACRE_ASKPASS_SOCKET", "")
    asked = {
        "session": os.environ.get("NACRE_SESSION", ""),
        "cookie": os.environ.get("NACRE_SESSION_COOKIE", ""),
        "prompt": " ".join(sys.argv[1:]),
        # ssh-add -c asks for a yes by the exit code.
        "confirms": os.environ.get("SSH_ASKPASS_PROMPT") == "confirm",
    }
    try:
        os.chdir(os.path.dirname(path))  # a socket's address must be short
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.basename(path))
            connection.sendall(json.dumps(asked).encode() + b"\n")
            answer = json.loads(connection.makefile("rb").readline(_LONGEST))
    except (OSError, ValueError) as error:
        print(f"nacre askpass: no daemon to ask a person by: {error}", file=sys.stderr)
        return 1
    if "text" not in answer:
        print(f"nacre askpass: {answer.get('error', 'no answer')}", file=sys.stderr)
        return 1
    if not asked["confirms"]:
        print(answer["text"])
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What a server's tool is called here: mcp_<server>_<tool>.

Rule 1: a name matches ^[A-Za-z0-9_-]{1,64}$, prefix included: hosts refuse others.
Rule 2: the name depends on the configured names of servers and on the tool, on nothing else: not on
which server came first, nor on what tools others have. Tool b_c of server a and tool c of server
a_b would both be mcp_a_b_c; it is the tool of the server with the longer name, always, and the
other one gets a name with a hash.
Rule 3: a name that had to be changed ends in a hash of server and tool, so that no two are equal.
"""

import hashlib
import re
from collections.abc import Collection

LONGEST = 64
_HASH = 8  # hex digits
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(server: str, tool: str, servers: Collection[str], prefix: str = "") -> str:
    """Return the name of a tool, given the names of all configured servers."""
    plain = f"mcp_{server}_{tool}"
    fitting = _REFUSED.sub("_", plain)
    longer = any(
        len(other) > len(server) and plain.startswith(f"mcp_{other}_")
        for other in servers
        if other != server
    )
    if fitting == plain and tool and not longer and len(prefix) + len(plain) <= LONGEST:
        return prefix + plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_HASH]
    room = LONGEST - len(prefix) - _HASH - 1
    return f"{prefix}{fitting[:room]}_{digest}"

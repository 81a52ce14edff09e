"""Servers that run already: Streamable HTTP, the older events, and what falls back to them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.errors import UpstreamUnavailable

from services.upstream.hubs import hub, person, text_of
from upstreams import configs

pytestmark = pytest.mark.anyio

SCRIPT = str(Path(configs.__file__).parent / "sdk_server.py")
ME = person(TOK="s3cret-v4lue")


@contextmanager
def serving(kind: str) -> Iterator[int]:
    """Run a server, and give its port."""
    process = subprocess.Popen([sys.executable, SCRIPT, kind], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_each_transport_is_found(tmp_path: Path) -> None:
    with serving("http") as http, serving("sse") as sse:
        tables = (
            configs.table("http", url=f"http://127.0.0.1:{http}/mcp", headers={"X": "$TOK"}),
            configs.table("falls", url=f"http://127.0.0.1:{sse}/sse"),
            configs.table("sse", url=f"http://127.0.0.1:{sse}/mcp", transport="sse"),
            configs.table("none", url=f"http://127.0.0.1:{http}/none?key=$TOK"),
            configs.table("dead", url="http://127.0.0.1:1/mcp?key=$TOK"),
        )
        async with hub(tmp_path, *tables) as house:
            for name, transport in (("http", "http"), ("falls", "sse"), ("sse", "sse")):
                found = await house("test_upstream", ME, server=name)
                assert (found.transport, found.tools) == (transport, 14)
                arguments = {"text": name}
                answer = await house(
                    "call_upstream_tool", ME, server=name, tool="echo", arguments=arguments
                )
                assert text_of(answer) == name
            for name, words in (("none", "HTTP status 404"), ("dead", "nothing listens there")):
                with pytest.raises(UpstreamUnavailable, match=words) as caught:
                    await house("test_upstream", ME, server=name)
                assert "s3cret" not in str(caught.value)

"""What is printed in examples/ and in the document does what it says."""

import asyncio
import json
import re
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from doors.ndjson.wire import Opened, opened
from services.living import PATIENCE

pytestmark = pytest.mark.anyio

EXAMPLES = Path(__file__).parents[3] / "examples"

# The document's clients, as they are printed there.
DOCUMENTS_PYTHON = """
import socket
import json

class MCPClient:
    def __init__(self, host='localhost', port=9000):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.connect((host, port))
        self.buffer = ""

    def send_request(self, req_id, method, params=None):
        msg = {"id": req_id, "method": method, "params": params or {}}
        self.socket.send((json.dumps(msg) + "\\n").encode())

    def receive_message(self):
        while '\\n' not in self.buffer:
            self.buffer += self.socket.recv(4096).decode()
        line, self.buffer = self.buffer.split('\\n', 1)
        return json.loads(line)

    def call_tool(self, tool, args):
        self.send_request("1", "call_tool", {"tool": tool, "args": args})
        # Skip notifications
        while True:
            msg = self.receive_message()
            if msg.get("type") in ["response", "error"]:
                return msg

# Usage
client = MCPClient(port=PORT)
client.send_request("1", "initialize", {})
print(client.receive_message())

client.send_request("2", "list_tools", {})
print(client.receive_message())

result = client.call_tool("pwd", {})
print(result["result"]["output"])
"""
DOCUMENTS_NODE = """
const net = require('net');

class MCPClient {
  constructor(host = 'localhost', port = PORT) {
    this.socket = net.createConnection(port, host);
    this.buffer = '';
    this.requestId = 0;
  }

  sendRequest(method, params = {}) {
    this.requestId++;
    const msg = JSON.stringify({
      id: this.requestId.toString(),
      method,
      params
    }) + '\\n';
    this.socket.write(msg);
  }

  receiveMessage() {
    return new Promise((resolve) => {
      const handler = (data) => {
        this.buffer += data.toString();
        if (this.buffer.includes('\\n')) {
          const [line, rest] = this.buffer.split('\\n', 2);
          this.buffer = rest;
          this.socket.off('data', handler);
          resolve(JSON.parse(line));
        }
      };
      this.socket.on('data', handler);
    });
  }

  async initialize() {
    this.sendRequest('initialize', {});
    return await this.receiveMessage();
  }

  async callTool(tool, args = {}) {
    this.sendRequest('call_tool', { tool, args });
    // Skip notifications until response
    while (true) {
      const msg = await this.receiveMessage();
      if (msg.type === 'response' || msg.type === 'error') {
        return msg;
      }
    }
  }
}

// Usage
(async () => {
  const client = new MCPClient();
  await client.initialize();
  const result = await client.callTool('ls', { path: '.' });
  console.log(result.result.output);
  process.exit(0);
})();
"""


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Opened]:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "README.md").write_text("one\ntwo\n")
    async with opened(folder) as found:
        yield found


async def run(*argv: str) -> str:
    started = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(PATIENCE):
        printed, _ = await started.communicate()
    assert started.returncode == 0, printed.decode()
    return printed.decode()


async def test_the_documents_python_client_works_unchanged(door: Opened) -> None:
    printed = await run(sys.executable, "-c", DOCUMENTS_PYTHON.replace("PORT", str(door.port), 1))
    assert "'server': 'nacre'" in printed
    assert printed.rstrip().endswith(str(door.folder))


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
async def test_the_documents_node_client_works_unchanged(tmp_path: Path) -> None:
    """It loses what it reads together with the line before: the door lets that not happen."""
    (tmp_path / "README.md").touch()
    usage = DOCUMENTS_NODE.index("  const result = await")
    often = """  for (let i = 0; i < 50; i++) {
    const again = await client.callTool('pwd');
    if (again.type !== 'response') throw new Error(JSON.stringify(again));
  }
"""
    async with opened(tmp_path, ndjson_timeout=2, ndjson_apart=PATIENCE) as door:
        for more in ("", often):
            text = DOCUMENTS_NODE[:usage] + more + DOCUMENTS_NODE[usage:]
            printed = await run("node", "-e", text.replace("PORT", str(door.port), 1))
            assert printed.strip() == "README.md"


async def test_the_python_client_shows_all_operations(door: Opened) -> None:
    printed = await run(
        sys.executable, str(EXAMPLES / "ndjson_client.py"), "--port", str(door.port)
    )
    assert "server: nacre" in printed
    assert f"folder: {door.folder}" in printed
    assert "status: completed exit code: 0" in printed
    assert "refused: Command 'rm' is blacklisted" in printed
    assert "tool_started" in printed


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
async def test_the_node_client_has_several_requests_in_flight(door: Opened) -> None:
    printed = await run("node", str(EXAMPLES / "ndjson_client.js"), str(door.port))
    assert f"folder: {door.folder}" in printed
    assert "ls exit code: 0" in printed
    assert "refused: Command 'rm' is blacklisted" in printed


async def test_the_agent_chooses_its_tools(door: Opened) -> None:
    requests = ("how many lines are in README.md", "what is the kernel version", "show my ip")
    script = str(EXAMPLES / "ndjson_agent.py")
    printed = await run(sys.executable, script, "--port", str(door.port), *requests)
    assert "wc " in printed
    assert "2 README.md" in printed
    assert "no command does this" in printed


async def test_the_tutorials_exercises_come_out(door: Opened) -> None:
    text = (EXAMPLES / "tutorial.md").read_text()
    steps = re.findall(r"```json\n(.*?)```\n→ `(.*?)`(?:,|\n)", text, re.DOTALL)
    assert len(steps) == 9
    async with door.wire() as wire:
        for lines, expected in steps:
            for line in lines.splitlines():
                wire.raw(line)
                answer = await wire.answer()
            told = json.dumps(answer, separators=(",", ":"))
            assert expected in told or expected in told.replace("\\\\n", "\\n").replace('\\"', '"')

import "./page";

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

const server = createServer((request, response) => {
  response.writeHead(request.url === "/refused" ? 502 : 200, { "Content-Type": "application/json" });
  if (request.url === "/whole") response.end('{"recording": "all of it"}');
  else if (request.url === "/half") response.write('{"recording": "only the beg');
  else response.end("<html>not our words</html>");
});

const real = globalThis.fetch;

test("an answer is whole or an error, never nothing", async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  location.href = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { call } = await import("../src/wire/api");
  try {
    assert.deepEqual(await call("whole", {}), { recording: "all of it" });
    const stop = new AbortController();
    globalThis.fetch = async (...given) => {
      const response = await real(...given);
      setImmediate(() => stop.abort()); // between the head and the rest
      return response;
    };
    await assert.rejects(call("half", {}, stop.signal), { name: "AbortError" });
    globalThis.fetch = real;
    await assert.rejects(call("garbled", {}), SyntaxError);
    await assert.rejects(call("refused", {}), { message: "the daemon answered 502", status: 502 });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

// A client of nacre's NDJSON door for Node: node examples/ndjson_client.js [PORT] [TOKEN]
// One chunk of data may hold several lines, or a part of one: both are put together here.
"use strict";
const net = require("node:net");

class Client {
  constructor(port) {
    this.socket = net.createConnection(port, "127.0.0.1");
    this.waiting = new Map();
    this.notifications = [];
    this.last = 0;
    let rest = "";
    this.socket.setEncoding("utf8");
    this.socket.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop();
      lines.forEach((line) => this.take(JSON.parse(line)));
    });
  }

  take(message) {
    if (message.type === "notification") {
      this.notifications.push(message.event);
      return;
    }
    const { resolve, reject } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.type === "error") reject(new Error(message.error));
    else resolve(message.result);
  }

  ask(method, params = {}) {
    const id = ++this.last;
    this.socket.write(JSON.stringify({ id, method, params }) + "\n");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  call(tool, args = {}) {
    return this.ask("call_tool", { tool, args });
  }
}

(async () => {
  const [port = "9000", token] = process.argv.slice(2);
  const client = new Client(Number(port));
  console.log("server:", (await client.ask("initialize", { token })).server);
  // Both at once: each answer finds its own request.
  const [folder, listed] = await Promise.all([client.call("pwd"), client.call("ls", { path: "." })]);
  console.log("folder:", folder.output.trim());
  console.log("ls exit code:", listed.exit_code);
  await client.call("rm", { path: "x" }).catch((error) => console.log("refused:", error.message));
  client.socket.end();
})();

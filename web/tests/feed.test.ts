import "./page";

import assert from "node:assert/strict";
import { test } from "node:test";

const { Terminal } = await import("@xterm/xterm");
const { Feed } = await import("../src/terminal/feed");
const { LineNumbers } = await import("../src/session/line-numbers");

const bytes = (text: string) => new TextEncoder().encode(text);
const snapshot = { event: "snapshot", rows: 4, cols: 20, alternate: false, history_lines: 0, line: 0 } as const;

function fed() {
  const terminal = new Terminal({ allowProposedApi: true, cols: 20, rows: 4, scrollback: 100 });
  const asked: number[] = [];
  const numbers = new LineNumbers(terminal);
  const feed = new Feed(
    terminal,
    (scrollback) => asked.push(scrollback) > 0,
    () => undefined,
    (drawn) => numbers.drew(drawn),
  );
  const text = () =>
    Array.from({ length: terminal.buffer.active.length }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    ).filter(Boolean);
  const drawn = () => new Promise<void>((done) => terminal.write("", done));
  return { terminal, feed, asked, numbers, text, drawn };
}

test("a snapshot replaces everything, output is added", async () => {
  const { feed, text, drawn } = fed();
  feed.told(snapshot);
  feed.printed(bytes("old"));
  feed.printed(bytes(" more"));
  await drawn();
  assert.deepEqual(text(), ["old more"]);
  feed.told(snapshot);
  feed.printed(bytes("new"));
  await drawn();
  assert.deepEqual(text(), ["new"]);
});

test("while a person looks back a snapshot waits, and what follows it", async () => {
  const { terminal, feed, text, drawn } = fed();
  feed.told(snapshot);
  feed.printed(bytes("1\r\n2\r\n3\r\n4\r\n5\r\n6"));
  await drawn();
  terminal.scrollLines(-2);
  feed.told(snapshot);
  feed.printed(bytes("after"));
  feed.printed(bytes(" that"));
  await drawn();
  assert.deepEqual([text().length, feed.waits.value], [6, true]);
  terminal.scrollToBottom();
  feed.letGo();
  await drawn();
  assert.deepEqual([text(), feed.waits.value], [["after that"], false]);
});

test("what waits is bounded: then a fresh screen is asked for", async () => {
  const { terminal, feed, asked, drawn } = fed();
  feed.told(snapshot);
  feed.printed(bytes("1\r\n2\r\n3\r\n4\r\n5\r\n6"));
  await drawn();
  terminal.scrollLines(-2);
  feed.told(snapshot);
  feed.printed(bytes("x"));
  for (let at = 0; at < 3; at += 1) feed.printed(new Uint8Array(1 << 20));
  terminal.scrollToBottom();
  feed.letGo();
  assert.deepEqual(asked, [0]);
});

test("lines keep their numbers while older ones are dropped above them", async () => {
  const { terminal, feed, numbers, drawn } = fed();
  feed.told({ ...snapshot, history_lines: 2, line: 42 });
  feed.printed(bytes("40\r\n41\r\n42\r\n43\r\n44\r\n45"));
  await drawn();
  const at = (line: number) => terminal.buffer.active.getLine(numbers.rowOf(line))?.translateToString(true);
  assert.deepEqual([at(40), at(43), at(45)], ["40", "43", "45"]);
  feed.printed(bytes(Array.from({ length: 99 }, (_, more) => `\r\n${46 + more}`).join("")));
  await drawn();
  assert.deepEqual([at(45), at(144), numbers.rowOf(40) < 0], ["45", "144", true]);
  feed.told({ ...snapshot, alternate: true });
  feed.printed(bytes("full screen"));
  await drawn();
  assert.equal(numbers.rowOf(45), -1);
});

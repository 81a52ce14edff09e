import "./page";

import assert from "node:assert/strict";
import { test } from "node:test";

import type { SessionSummary } from "../src/wire/shapes";

const { ago, clock, nameOf, now, shortPath, stateOf, titleOf } = await import("../src/words");
const { cellsThatFit, LARGEST, sizeThatFits, SMALLEST } = await import("../src/terminal/font");
const { codeOf, harmless, withModifiers } = await import("../src/session/keyboard");

const session = (more: Partial<SessionSummary> = {}): SessionSummary => ({
  name: "dev",
  session_id: "1",
  port: 20000,
  command: "bash",
  cwd: "/home/a/b/c",
  rows: 24,
  cols: 80,
  running: true,
  exit_code: null,
  signal: null,
  idle_seconds: 0,
  created: 0,
  title: "",
  state: "prompt",
  asks: null,
  tags: [],
  ...more,
});

test("a state is said with its tone, and calls only who is wanted", () => {
  assert.deepEqual(stateOf(session()), { text: "at its prompt", tone: "calm" });
  const asks = session({ state: "needs_input", asks: "password" });
  assert.deepEqual(stateOf(asks, "blocked"), { text: "asks for a password", tone: "asks" });
  assert.equal(stateOf(asks, "idle").tone, "calm");
  assert.deepEqual(stateOf(session(), "blocked"), { text: "asks for approval", tone: "asks" });
  const last = { command: "make", started: 0, ended: 1, exit_code: 2 };
  assert.deepEqual(stateOf(session({ last_command: last }), "done"), { text: "failed with 2", tone: "bad" });
  assert.equal(stateOf(session({ state: "lost" })).tone, "bad");
  assert.equal(stateOf({ ...session(), gone: true }).text, "killed");
});

test("times, paths and names are short", () => {
  now.value = 10_000_000_000;
  const said = [5, 45, 119, 7200, 200_000].map((seconds) => ago(now.value - seconds * 1000));
  assert.deepEqual(said, ["now", "40 s", "1 min", "2 h", "2 d"]);
  assert.deepEqual([0, 61.9, 3661].map(clock), ["0:00", "1:01", "1:01:01"]);
  assert.deepEqual(["/", "/usr/lib", "/home/a/b/c"].map(shortPath), ["/", "/usr/lib", "…/b/c"]);
  assert.equal(titleOf(session({ title: "vim notes" })), "vim notes");
  assert.equal(titleOf(session({ title: "vim notes", state: "exited" })), "…/b/c");
  assert.equal(nameOf("web page"), "Someone on another page");
});

test("a screen is drawn as large as it fits, within bounds; a window gives whole cells", () => {
  const soft = { whole: false };
  assert.equal(sizeThatFits({ width: 1e5, height: 1e5 }, 24, 80, soft), LARGEST);
  assert.equal(sizeThatFits({ width: 50, height: 50 }, 24, 80, soft), SMALLEST);
  const size = sizeThatFits({ width: 700, height: 1e5 }, 24, 80, soft);
  assert.ok(size * 0.6 * 80 <= 700 && (size + 0.5) * 0.6 * 80 > 700, String(size));
  assert.deepEqual(cellsThatFit({ width: 841, height: 190 }, 14, soft), { rows: 10, cols: 100 });
  assert.deepEqual(cellsThatFit({ width: 1, height: 1 }, 14, soft), { rows: 2, cols: 10 });
});

test("keys that phones lack, and pasted text without control characters", () => {
  assert.equal(codeOf("up", { application: false }), "\x1b[A");
  assert.equal(codeOf("up", { application: true }), "\x1bOA");
  assert.equal(withModifiers("c", { ctrl: true, alt: false }), "\x03");
  assert.equal(withModifiers("x", { ctrl: false, alt: true }), "\x1bx");
  assert.equal(withModifiers("é", { ctrl: true, alt: false }), "é");
  assert.equal(harmless("a\x1b[201~b\tc\nd\x00"), "a[201~b\tc\nd");
});

import { frame, frames } from "./page";

import assert from "node:assert/strict";
import { test } from "node:test";

import { countOf, momentsOf, nearest } from "../src/cast/finding";
import type { Keyframe } from "../src/cast/frames";
import { readCast } from "../src/cast/recording";

const { Terminal } = await import("@xterm/xterm");
const { Player } = await import("../src/cast/player");

const LINES = [
  { version: 3, term: { cols: 20, rows: 4 } },
  [1, "o", "one\r\n"],
  [0, "m", "0"],
  [10, "o", "two\r\n"],
  [0, "m", "1"],
  [1, "r", "30x5"],
  [1, "o", "three"],
];
const recording = () => readCast(LINES.map((line) => JSON.stringify(line)).join("\n"));

function shown(terminal: InstanceType<typeof Terminal>): string[] {
  const buffer = terminal.buffer.active;
  const rows = Array.from({ length: terminal.rows }, (_, row) => buffer.getLine(row)?.translateToString(true) ?? "");
  return rows.filter(Boolean);
}

test("a moment shows what was printed until then, forward and back, at its size", async () => {
  const terminal = new Terminal({ allowProposedApi: true });
  const player = new Player(terminal, recording(), () => undefined);
  await player.shows(13);
  assert.deepEqual([shown(terminal), terminal.cols, terminal.rows], [["one", "two", "three"], 30, 5]);
  await player.shows(5);
  assert.deepEqual([shown(terminal), terminal.cols, terminal.rows], [["one"], 20, 4]);
  await player.shows(0);
  assert.deepEqual(shown(terminal), []);
  await player.shows(0.9995); // of which the recording made a whole second
  assert.deepEqual(shown(terminal), ["one"]);
});

test("of many wishes the last counts, and a keyframe is where it begins", async () => {
  const terminal = new Terminal({ allowProposedApi: true });
  const key: Keyframe = { time: 11, next: 2, cols: 20, rows: 4, screen: "KEY\r\n" };
  const player = new Player(terminal, recording(), () => undefined, (time) => (time >= 11 ? key : null));
  player.seek(1);
  player.seek(5);
  await player.shows(13);
  assert.deepEqual(shown(terminal), ["KEY", "three"]);
});

test("pauses are cut from the clock that is seen, and its markers are steps", () => {
  const player = new Player(new Terminal(), recording(), () => undefined);
  assert.equal(player.clock.value.duration, 1 + 2 + 1 + 1);
  player.cut.value = false;
  assert.equal(player.clock.value.duration, 13);
  player.seek(0);
  player.step(1);
  assert.equal(player.time.value, 1);
  player.step(1);
  assert.equal(player.time.value, 11);
  player.step(-1);
  assert.equal(player.time.value, 1);
  player.step(1);
  player.step(1);
  assert.equal(player.time.value, 13);
  player.seek(99);
  assert.equal(player.time.value, 13);
});

test("it plays at its speed, and stops at the end", () => {
  const player = new Player(new Terminal(), recording(), () => undefined);
  player.cut.value = false;
  player.quicken(1);
  assert.equal(player.speed.value, 2);
  player.play();
  const begin = performance.now();
  frame(begin + 1000);
  assert.ok(Math.abs(player.time.value - 2) < 0.1, String(player.time.value));
  frame(begin + 60_000);
  assert.deepEqual([player.time.value, player.playing.value, frames.length], [13, false, 0]);
});

test("hits are moments of the recording, each once; the first one after now is gone to", () => {
  const hit = (time: number) => ({ session: "s", session_id: "s", time, generation: 1, text: "", start: 0, end: 0 });
  const found = { total: 4, searched_sessions: 1, complete: true, hits: [109, 103, 103, 50].map(hit) };
  const { times, matches, more } = momentsOf(found, { began: 100, duration: 20 });
  assert.deepEqual([times, matches, more], [[3, 9], 3, true]); // one is older than the recording
  assert.deepEqual([0, 3, 4, 12].map((now) => nearest(times, now)), [0, 0, 1, 1]);
  assert.equal(nearest([], 3), 0);
  assert.equal(countOf({ times, matches, more: false }, 1), "moment 2 of 2, 3 matches");
  assert.equal(countOf({ times, matches: 2, more: true }, 0), "1 of 2+");
  assert.equal(countOf({ times: [], matches: 0, more: false }, 0), "not found");
});

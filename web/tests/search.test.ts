// The page's pure parts of the search and the replay.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lastBefore } from "../src/cast/frames";
import { Pauses } from "../src/cast/pauses";
import { readCast } from "../src/cast/recording";
import { grouped, parts, placeOf, summary, type Hit } from "../src/search/found";

const hit = (session_id: string, more: Partial<Hit> = {}): Hit => ({
  session: session_id.toUpperCase(),
  session_id,
  time: 0,
  generation: 1,
  text: "",
  start: 0,
  end: 0,
  ...more,
});

test("hits are grouped by session, in the order of their newest", () => {
  const groups = grouped([hit("b"), hit("a"), hit("b")]);
  assert.deepEqual(groups.map(({ name, hits }) => [name, hits.length]), [["B", 2], ["A", 1]]);
});

test("a hit is shown in three parts, by characters and not by UTF-16", () => {
  assert.deepEqual(parts({ text: "😀 a word", start: 4, end: 8 }, 60), ["😀 a ", "word", ""]);
  const [before, found, after] = parts({ text: `${"x".repeat(200)}word!`, start: 200, end: 204 }, 60);
  assert.deepEqual([before, found, after], [`…${"x".repeat(60)}`, "word", "!"]);
});

test("the summary says what is listed and what there is", () => {
  const none = { total: 0, searched_sessions: 1, complete: true };
  assert.equal(summary(none), "Nothing found in 1 session.");
  const some = { total: 9, searched_sessions: 3, complete: true, hits: [hit("a"), hit("b")] };
  assert.equal(summary(some), "the newest 2 of 9 hits in 2 sessions");
});

test("a hit's row is the last whose row above fits, or else the last", () => {
  const rows = ["one", "same", "two", "same", "end"];
  assert.equal(placeOf(rows, hit("a", { text: "same", before: ["one"] })), 1);
  assert.equal(placeOf(rows, hit("a", { text: "same" })), 3);
  assert.equal(placeOf(rows, hit("a", { text: "same", before: ["gone"] })), 3);
  assert.equal(placeOf(rows, hit("a", { text: "nowhere" })), -1);
  const long = "a line that is broken by the width of the terminal";
  assert.equal(placeOf(["x", long.slice(0, 25), long.slice(25)], hit("a", { text: long })), 1);
});

test("pauses are cut, and the moment is found again from either clock", () => {
  const clock = new Pauses([1, 11, 12], 32, 2);
  assert.equal(clock.duration, 1 + 2 + 1 + 2);
  assert.deepEqual([0, 1, 2, 3, 9, 11, 12, 13, 32].map((at) => clock.toShown(at)), [0, 1, 2, 3, 3, 3, 4, 5, 6]);
  assert.deepEqual([0, 1, 2.5, 3, 3.5, 4, 6].map((at) => clock.toReal(at)), [0, 1, 2.5, 11, 11.5, 12, 32]);
  const whole = new Pauses([], 32, Infinity);
  assert.deepEqual([whole.duration, whole.toShown(17), whole.toReal(17)], [32, 17, 17]);
});

test("times of a recording are the session's own", () => {
  const lines = [
    { version: 3, term: { cols: 80, rows: 24 }, timestamp: 7 },
    [0.5, "o", "a"],
    [100, "m", "0"],
    [1, "r", "100x30"],
    [1, "x", "3"],
  ];
  const recording = readCast(lines.map((line) => JSON.stringify(line)).join("\n"), 7.25);
  assert.deepEqual(recording.events.map(({ time, code }) => [time, code]), [[0.5, "o"], [101.5, "r"]]);
  assert.deepEqual(recording.markers, [{ time: 100.5, label: "0" }]);
  assert.deepEqual([recording.began, recording.duration, recording.exit], [7.25, 102.5, "3"]);
});

test("the keyframe before a moment is the last that is not after it", () => {
  const frames = [{ time: 0 }, { time: 5 }, { time: 9 }];
  assert.deepEqual([4, 5, 8.9, 99].map((at) => lastBefore(frames, at)?.time), [0, 5, 5, 9]);
  assert.equal(lastBefore(frames, -1), null);
});

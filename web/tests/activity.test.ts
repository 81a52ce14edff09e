import assert from "node:assert/strict";
import { test } from "node:test";

import {
  chapterAt,
  entryNear,
  lasting,
  MOST,
  outcomeOf,
  rowOf,
  whenOf,
  whoOf,
  withEntry,
  type Entry,
} from "../src/activity/entries";

const entry = (id: string, started: number, more: Partial<Entry> = {}): Entry => ({ id, started, ...more });

test("an entry is added in its order or replaces itself, and the list is bounded", () => {
  const list = [entry("a", 1), entry("b", 3)];
  assert.deepEqual(withEntry(list, entry("c", 2)).map(({ id }) => id), ["a", "c", "b"]);
  const [, changed] = withEntry(list, entry("b", 3, { exit_code: 2 }));
  assert.equal(changed?.exit_code, 2);
  const full = Array.from({ length: MOST }, (_, at) => entry(String(at), at));
  const more = withEntry(full, entry("new", MOST));
  assert.deepEqual([more.length, more[0]?.id, more.at(-1)?.id], [MOST, "1", "new"]);
});

test("who ran it is said in their words, and unknown is not guessed", () => {
  assert.equal(whoOf(entry("a", 0, { by: "claude-code 2.1", person: false })), "claude-code 2.1");
  assert.equal(whoOf(entry("a", 0, { by: "web page", person: true })), "a person, on the page");
  assert.equal(whoOf(entry("a", 0, { by: "attach", person: true })), "a person, attach");
  assert.equal(whoOf(entry("a", 0)), "unknown");
});

test("how it ended: running, failed, well, or nobody saw it", () => {
  const said = (more: Partial<Entry>) => outcomeOf(entry("a", 0, more));
  assert.deepEqual(said({ running: true }), { text: "running", tone: "busy" });
  assert.deepEqual(said({ ended: 1, exit_code: 0 }), { text: "ok", tone: "calm" });
  assert.deepEqual(said({ ended: 1, exit_code: 130 }), { text: "exit 130", tone: "bad" });
  assert.equal(said({ ended: 1 }).text, "ended"); // a REPL has no exit code
  assert.equal(said({}).text, "end not seen");
});

test("durations and times are short", () => {
  const said = [8.4, 999, 1500, 61_000, 3_600_000 * 2 + 60_000].map(lasting);
  assert.deepEqual(said, ["8 ms", "999 ms", "1.5 s", "1 min 1 s", "2 h 1 min"]);
  const noon = new Date(2026, 1, 3, 12, 4, 5);
  assert.equal(whenOf(noon.getTime() / 1000, noon), "12:04:05");
  assert.equal(whenOf(noon.getTime() / 1000, new Date(2026, 1, 4)), "2026-02-03 12:04:05");
});

test("the chapter of a moment, and the command at a marker", () => {
  const list = [entry("a", 10), entry("b", 20)];
  assert.deepEqual([9, 10, 19.9, 20, 99].map((at) => chapterAt(list, at)?.id), [undefined, "a", "a", "b", "b"]);
  assert.equal(entryNear(list, 20.4)?.id, "b");
  assert.equal(entryNear(list, 15), undefined);
});

test("a command's row is the nearest that has its text, also if the width broke it", () => {
  const rows = ["$ ls", "ls", "$ ls", "x", "$ ls"];
  assert.equal(rowOf(rows, 2, "ls"), 2);
  assert.equal(rowOf(rows, 3, "ls"), 4); // both are one row away: the later one
  assert.equal(rowOf(rows, 3, "nowhere"), -1);
  assert.equal(rowOf(["$ make all the ", "things"], 0, "make all the things"), 0);
  assert.equal(rowOf(["a", "$ first"], 0, "first\nsecond"), 1);
  assert.equal(rowOf(rows, 0, ""), -1);
});

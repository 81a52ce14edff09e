import assert from "node:assert/strict";
import { test } from "node:test";

import { readCast } from "../src/cast/recording";
import { paler, readable } from "../src/terminal/contrast";
import { layOut } from "../src/terminal/grid";
import { cssColor, DARK } from "../src/terminal/palette";
import { changed, withoutBlankEnd } from "../src/wall/thumbnails";
import type { Overlay } from "../src/wire/shapes";

test("text that cannot be read gets another colour, and pale text stays readable", () => {
  assert.equal(readable("#ffffff", "#000000"), "#ffffff");
  assert.equal(readable("#222222", "#000000"), "#ffffff");
  assert.notEqual(paler("#ffffff", "#000000"), "#ffffff");
  assert.equal(paler("#333333", "#000000"), "#ffffff"); // nothing paler can be read
});

test("xterm's colours by name and by number", () => {
  assert.equal(cssColor("red", DARK), DARK.ansi[1]);
  assert.equal(cssColor("bright_red", DARK), DARK.ansi[9]);
  assert.equal(cssColor("color196", DARK), "rgb(255 0 0)");
  assert.equal(cssColor("color232", DARK), "rgb(8 8 8)");
  assert.equal(cssColor("default", DARK), null);
});

test("elements are laid out by cells, and cut at their edge", () => {
  const overlay = { spans: [{ text: "ab界c" }], height: 1 } as unknown as Overlay;
  const [row] = layOut(overlay, 4, 1);
  assert.deepEqual(row?.map(({ col, cols, text }) => [col, cols, text]), [[0, 2, "ab"], [2, 2, "界"]]);
});

test("a recording's times count from its beginning, markers on the same clock", () => {
  const lines = [
    { version: 3, term: { cols: 80, rows: 24 } },
    [1, "o", "a"],
    [60, "m", "0"],
    [1, "o", "b"],
  ];
  const cast = readCast(lines.map((line) => JSON.stringify(line)).join("\n"));
  assert.deepEqual(cast.events.map(({ time }) => time), [1, 62]);
  assert.deepEqual(cast.markers.map(({ time }) => time), [61]);
  assert.throws(() => readCast('{"version": 2}'));
});

test("a thumbnail keeps the rows that did not change", () => {
  const about = { event: "thumbnail", session: "s", session_id: "1", cols: 10 } as const;
  const cursor = { row: 0, col: 0, visible: true };
  const whole = changed(null, { ...about, rows: 2, cursor, lines: [[0, [{ text: "a" }]], [1, []]] });
  const next = changed(whole, { ...about, rows: 2, cursor, lines: [[1, [{ text: "b" }]]] });
  assert.equal(next.lines[0], whole.lines[0]);
  assert.deepEqual(next.lines.map((line) => line[0]?.text), ["a", "b"]);
  assert.equal(changed(next, { ...about, rows: 3, cursor, lines: [] }).lines.length, 3);
  assert.equal(withoutBlankEnd(whole.lines).length, 1);
});

// Overlays and panels as rows of cells. Rule: the same cells as in every other view of the session:
// columns are counted by UAX #11, what does not fit is cut, half a wide character is a blank.

import type { Overlay, Panel, Styled } from "../wire/shapes";

export interface Run {
  col: number;
  cols: number;
  text: string;
  style: Styled;
}

interface CellText {
  text: string; // "" in the second cell of a wide character
  style: Styled;
}

const NONE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
const EMOJI = /^\p{Emoji_Presentation}$/u;
// East Asian wide and fullwidth blocks (UAX #11, EastAsianWidth.txt).
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f], [0x2329, 0x232a], [0x2e80, 0x303e], [0x3041, 0x33ff], [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf], [0xa960, 0xa97c], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f], [0xff01, 0xff60], [0xffe0, 0xffe6], [0x16fe0, 0x18aff], [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f202], [0x1f210, 0x1f23b], [0x20000, 0x3fffd],
];

export function widthOf(char: string): number {
  if (NONE.test(char)) return 0;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x1100) return 1;
  return EMOJI.test(char) || WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Lay an element's text out in its box; each row is a list of runs of one style. */
export function layOut(element: Overlay | Panel, width: number, height: number): Run[][] {
  const blank: CellText = { text: " ", style: {} };
  const grid = Array.from({ length: height }, () => Array.from({ length: width }, () => blank));
  let [row, col] = [0, 0];
  for (const span of element.spans) {
    span.text.split("\n").forEach((part, number) => {
      if (number) [row, col] = [row + 1, 0];
      col = write(grid[row], col, part, span, width);
    });
  }
  for (const { row, col, text, ...style } of element.region_writes ?? []) {
    write(grid[row], col, text, style, width);
  }
  return grid.map(runs);
}

function write(
  cells: CellText[] | undefined,
  from: number,
  text: string,
  style: Styled,
  width: number,
): number {
  let col = from;
  for (const char of text) {
    const taken = widthOf(char);
    const before = cells?.[col - 1];
    if (taken === 0) {
      if (before && cells) cells[col - 1] = { ...before, text: before.text + char };
      continue;
    }
    if (cells && col >= 0 && col + taken <= width) {
      cells[col] = { text: char, style };
      if (taken === 2) cells[col + 1] = { text: "", style };
    } else if (cells && col >= 0 && col < width) cells[col] = { text: " ", style };
    col += taken;
  }
  return col;
}

/** Join cells of one style. What is not plain text stands alone: its width depends on the font. */
function runs(cells: CellText[]): Run[] {
  const joined: Run[] = [];
  cells.forEach(({ text, style }, col) => {
    const last = joined.at(-1);
    if (text === "") {
      if (last) last.cols += 1;
    } else if (last && last.style === style && isPlain(text) && isPlain(last.text)) {
      last.text += text;
      last.cols += 1;
    } else joined.push({ col, cols: 1, text, style });
  });
  return joined;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}

// Overlays and panels as rows of cells. Rule: the cells are the same as in every other view of the
// session: columns count as in the daemon (widths.ts), what does not fit is cut, half a wide
// character is a blank.

import type { Overlay, Panel, Styled } from "../wire/shapes";
import { widthOf } from "./widths";

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

const CONTROL = /^\p{Cc}$/u; // not drawn

function columnsOf(char: string): number {
  return CONTROL.test(char) ? 0 : widthOf(char.codePointAt(0) ?? 0);
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
    const taken = columnsOf(char);
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

/** Join cells of one style. Other than plain text stays single: its width depends on the font. */
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

// A small picture of a screen: a stroke for each character, in its colour.

import type { IBufferCell, Terminal } from "@xterm/xterm";

import { cssColor, type Palette } from "../terminal/palette";

export interface Tile {
  cols: number;
  rows: number;
  strokes: Stroke[];
}

interface Stroke {
  row: number;
  col: number;
  width: number;
  color: number; // -1: the text's own; below 256: of the palette; else RGB + 256
}

export function tileOf(terminal: Terminal): Tile {
  const { cols, rows } = terminal;
  const buffer = terminal.buffer.active;
  const strokes: Stroke[] = [];
  for (let row = 0; row < rows; row += 1) {
    const line = buffer.getLine(buffer.baseY + row);
    let last: Stroke | null = null;
    let cell: IBufferCell | undefined;
    for (let col = 0; line && col < cols; col += 1) {
      cell = line.getCell(col, cell);
      const blank = !cell?.getChars().trim();
      const color = cell && !blank ? colorOf(cell) : -2;
      if (last && color === last.color) last.width += 1;
      else if (!blank) strokes.push((last = { row, col, width: 1, color }));
      if (blank) last = null;
    }
  }
  return { cols, rows, strokes };
}

function colorOf(cell: IBufferCell): number {
  if (cell.isFgDefault()) return -1;
  return cell.isFgRGB() ? cell.getFgColor() + 256 : cell.getFgColor();
}

export function drawTile(canvas: HTMLCanvasElement, tile: Tile, palette: Palette): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const [wide, high] = [canvas.width / tile.cols, canvas.height / tile.rows];
  context.fillStyle = palette.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const { row, col, width, color } of tile.strokes) {
    context.fillStyle = colorFor(color, palette);
    context.fillRect(col * wide, (row + 0.25) * high, width * wide, Math.max(1, high * 0.5));
  }
}

function colorFor(color: number, palette: Palette): string {
  if (color < 0) return palette.foreground;
  if (color < 256) return cssColor(`color${color}`, palette) ?? palette.foreground;
  return `#${(color - 256).toString(16).padStart(6, "0")}`;
}

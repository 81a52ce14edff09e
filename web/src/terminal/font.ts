// The terminal's font, and how large a cell is at each font size. Rule: cells are measured as
// xterm.js measures them, so that a size that fits here fits there too.

export const FAMILY = '"JetBrains Mono NL", ui-monospace, Menlo, "DejaVu Sans Mono", monospace';

export const SMALLEST = 7; // px; below that the screen scrolls instead
export const LARGEST = 20; // px; a small screen in a wide window is not blown up further

export interface Cell {
  width: number;
  height: number;
}

/** Load the font; before that every measurement is wrong. */
export async function loadFont(): Promise<void> {
  const styles = ["14px", "bold 14px", "italic 14px", "italic bold 14px"];
  const loads = styles.map((style) => document.fonts.load(`${style} "JetBrains Mono NL"`));
  await Promise.allSettled(loads);
}

const context = document.createElement("canvas").getContext("2d");

export function cellAt(size: number, { whole }: { whole: boolean }): Cell {
  const ratio = devicePixelRatio || 1;
  if (!context) return { width: size * 0.6, height: Math.ceil(size * 1.32) };
  context.font = `${size}px ${FAMILY}`;
  const measured = context.measureText("W");
  const high = measured.fontBoundingBoxAscent + measured.fontBoundingBoxDescent;
  const wide = measured.width * ratio;
  return {
    width: (whole ? Math.floor(wide) : wide) / ratio,
    height: Math.ceil(high * ratio) / ratio,
  };
}

/** The natural width of a letter; a cell's width may differ by a fraction of a pixel. */
export function advanceAt(size: number): number {
  if (!context) return size * 0.6;
  context.font = `${size}px ${FAMILY}`;
  return context.measureText("W").width;
}

/** The largest font size at which this many cells fit; the smallest one if none does. */
export function sizeThatFits(
  space: { width: number; height: number },
  rows: number,
  cols: number,
  { whole }: { whole: boolean },
): number {
  for (let size = LARGEST; size > SMALLEST; size -= 0.5) {
    const cell = cellAt(size, { whole });
    // xterm rounds the whole width up to the next pixel.
    if (Math.ceil(cell.width * cols) <= space.width && cell.height * rows <= space.height) {
      return size;
    }
  }
  return SMALLEST;
}

/** How many rows and columns fit into the window at a font size. */
export function cellsThatFit(
  space: { width: number; height: number },
  size: number,
  { whole }: { whole: boolean },
): { rows: number; cols: number } {
  const cell = cellAt(size, { whole });
  return {
    rows: Math.max(2, Math.floor(space.height / cell.height)),
    cols: Math.max(10, Math.floor((space.width - 1) / cell.width)),
  };
}

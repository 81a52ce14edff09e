// How large the session's screen is drawn.
// Rule 1: watching never changes the session's size. The text is scaled so that the whole screen
// fits the window; below the smallest font size it scrolls.
// Rule 2: only taking over or pressing Fit resizes the session to the window.

import { effect, signal } from "@preact/signals";

import { keep, kept } from "../kept";
import type { Emulator } from "../terminal/emulator";
import { advanceAt, cellsThatFit, sizeThatFits, type Cell } from "../terminal/font";
import { spaceOf } from "../terminal/space";

const SETTLED = 150; // ms without a further change of the window, before the session is resized
const SIZES = { least: 9, usual: 14, most: 24 }; // px

/** The font size when the session has the window's size. */
export const letters = signal(stored());

export function changeLetters(step: number): void {
  letters.value = Math.min(SIZES.most, Math.max(SIZES.least, letters.value + step));
  keep("letters", String(letters.value));
}

export class Viewport {
  /** The size of a cell as it is drawn, in px; the layout of elements uses it. */
  readonly cell = signal<Cell>({ width: 8, height: 16 });
  readonly size = signal(14);
  /** What to add to a letter's width to get the cell's. */
  readonly gap = signal(0);
  readonly panelRows = signal(0);

  private rows = 24;
  private cols = 80;
  private asked: { rows: number; cols: number } | null = null;
  private timer = 0;
  private readonly observer: ResizeObserver;
  private readonly stop: () => void;

  constructor(
    private readonly stage: HTMLElement,
    private readonly emulator: Emulator,
    private readonly resizeSession: (rows: number, cols: number) => void,
    private readonly follows: () => boolean,
  ) {
    this.observer = new ResizeObserver(() => this.windowChanged());
    this.observer.observe(stage);
    this.stop = effect(() => {
      void this.panelRows.value;
      void letters.value;
      this.scale();
    });
  }

  /** The session's terminal has this size now. */
  sessionIs(rows: number, cols: number): void {
    this.rows = rows;
    this.cols = cols;
    this.scale();
  }

  /** Give the session the window's size. */
  fit(): void {
    clearTimeout(this.timer);
    this.asked = cellsThatFit(spaceOf(this.stage), letters.value, this.emulator);
    const { rows, cols } = this.asked;
    if (rows !== this.wholeRows || cols !== this.cols) this.resizeSession(rows, cols);
    this.scale();
    this.emulator.terminal.focus();
  }

  close(): void {
    clearTimeout(this.timer);
    this.observer.disconnect();
    this.stop();
  }

  private get wholeRows(): number {
    return this.rows + this.panelRows.peek();
  }

  private windowChanged(): void {
    this.scale();
    if (!this.follows()) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.follows() && this.fit(), SETTLED);
  }

  private scale(): void {
    const { terminal } = this.emulator;
    const fitted = this.asked?.rows === this.wholeRows && this.asked.cols === this.cols;
    const best = sizeThatFits(spaceOf(this.stage), this.wholeRows, this.cols, this.emulator);
    const size = fitted ? Math.min(best, letters.peek()) : best;
    if (terminal.options.fontSize !== size) terminal.options.fontSize = size;
    this.measure(size);
    // xterm.js may draw its new size only in the next frame.
    requestAnimationFrame(() => this.measure(size));
  }

  /** Use the size that xterm.js has drawn, to a fraction of a pixel. */
  private measure(size: number): void {
    const { terminal } = this.emulator;
    const screen = terminal.element?.querySelector(".xterm-screen");
    const box = screen?.getBoundingClientRect();
    if (!box?.width || terminal.options.fontSize !== size) return;
    const cell = { width: box.width / terminal.cols, height: box.height / terminal.rows };
    const before = this.cell.peek();
    if (cell.width === before.width && cell.height === before.height) return;
    this.size.value = size;
    this.gap.value = cell.width - advanceAt(size);
    this.cell.value = cell;
  }
}

function stored(): number {
  const size = Number(kept("letters"));
  return size >= SIZES.least && size <= SIZES.most ? size : SIZES.usual;
}

// How large the session's screen is drawn.
// Rule 1: watching never changes the session's size. The text is scaled so that the whole screen
// fits the window; below the smallest font size it scrolls.
// Rule 2: only taking over or pressing Fit resizes the session to the window. Who takes over borrows
// the size, and the daemon gives it back.
// Rule 3: larger letters and the browser's zoom are this person's own: they never resize the session.
// What does not fit the window then scrolls, and the cursor stays in view.

import { effect, signal } from "@preact/signals";

import { keep, kept } from "../kept";
import type { Emulator } from "../terminal/emulator";
import { advanceAt, cellsThatFit, sizeThatFits, type Cell } from "../terminal/font";
import { spaceOf } from "../terminal/space";

const SETTLED = 150; // ms without a further change of the window, before the session is resized
const SIZES = { least: 9, usual: 14, most: 24, touch: 11 }; // px

const coarse = matchMedia("(pointer: coarse)");

const SAME = 0.02; // a part of the window's width: the same but for rounding

/** The font size when the session has the window's size. */
export const letters = signal(stored());

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
  private chosen: number | null = null; // the font size, if the person chose one
  private ratio = devicePixelRatio; // without the browser's zoom
  private seen = { ratio: devicePixelRatio, width: innerWidth };
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
    const stop = effect(() => {
      void this.panelRows.value;
      this.scale();
    });
    const moved = emulator.terminal.onCursorMove(() => this.showCursor());
    this.stop = () => {
      stop();
      moved.dispose();
    };
  }

  /** Draw the letters so many px larger, or smaller if it is negative. */
  enlarge(step: number): void {
    const size = Math.round(this.size.peek()) + step;
    letters.value = this.chosen = Math.min(SIZES.most, Math.max(SIZES.least, size));
    keep("letters", String(letters.value));
    this.scale();
    this.emulator.terminal.focus();
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
    this.chosen = null;
    this.ratio = devicePixelRatio;
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
    const zoomed = this.zoomed();
    this.scale();
    if (zoomed || !this.follows()) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.follows() && this.fit(), SETTLED);
  }

  /** Whether the window changed by the browser's zoom alone. */
  private zoomed(): boolean {
    const before = this.seen;
    const now = (this.seen = { ratio: devicePixelRatio, width: innerWidth });
    if (now.ratio === before.ratio) return false;
    const change = (now.width * now.ratio) / (before.width * before.ratio) - 1;
    if (Math.abs(change) < SAME) return true;
    this.ratio = now.ratio; // the window went to another monitor
    return false;
  }

  private scale(): void {
    const { terminal } = this.emulator;
    const fitted = this.asked?.rows === this.wholeRows && this.asked.cols === this.cols;
    const zoom = devicePixelRatio / this.ratio;
    const space = spaceOf(this.stage);
    const whole = { width: space.width * zoom, height: space.height * zoom };
    const fits = sizeThatFits(whole, this.wholeRows, this.cols, this.emulator);
    // On a phone a whole screen would be too small to read: it scrolls with the cursor instead.
    const best = coarse.matches ? Math.max(fits, SIZES.touch) : fits;
    const size = this.chosen ?? (fitted ? Math.min(best, letters.peek()) : best);
    if (terminal.options.fontSize !== size) terminal.options.fontSize = size;
    this.measure(size);
    // xterm.js may draw its new size only in the next frame.
    requestAnimationFrame(() => {
      this.measure(size);
      this.showCursor();
    });
  }

  /** Scroll to the cursor, where the screen is larger than the window. */
  private showCursor(): void {
    const { stage } = this;
    const outside = stage.scrollWidth > stage.clientWidth || stage.scrollHeight > stage.clientHeight;
    const screen = this.emulator.terminal.element?.querySelector(".xterm-screen");
    if (!outside || !screen) return;
    const { cursorX, cursorY } = this.emulator.terminal.buffer.active;
    const { width, height } = this.cell.peek();
    const [box, view] = [screen.getBoundingClientRect(), stage.getBoundingClientRect()];
    const left = box.left - view.left + cursorX * width;
    const top = box.top - view.top + cursorY * height;
    stage.scrollBy({
      left: beyond(left, left + width, view.width),
      top: beyond(top, top + height, view.height),
      behavior: "instant",
    });
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

const MARGIN = 24; // px around the cursor

function beyond(begin: number, end: number, size: number): number {
  if (end + MARGIN > size) return end + MARGIN - size;
  return Math.min(0, begin - MARGIN);
}

function stored(): number {
  const size = Number(kept("letters"));
  return size >= SIZES.least && size <= SIZES.most ? size : SIZES.usual;
}

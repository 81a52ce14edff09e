// The line "new since you looked": above what was printed while the person looked elsewhere.
// Rule: only where its place is known. Lines have other numbers in another width, and a full-screen
// program has none.

import type { IDecoration, IMarker, Terminal } from "@xterm/xterm";

import type { SeenSession } from "../attention/seen";
import type { RawEvent } from "../wire/shapes";

type SnapshotEvent = Extract<RawEvent, { event: "snapshot" }>;

export class SinceLine {
  private drawn: IDecoration | undefined;
  private left: IMarker | undefined; // where the screen ended when the page was hidden
  private readonly from: number | null; // the number of the last line that was seen
  private over = false; // the person has typed: they know what is there

  constructor(
    private readonly terminal: Terminal,
    private readonly before: SeenSession | null,
  ) {
    this.from = before?.line ?? null;
  }

  /** A snapshot is on the screen. */
  drew({ line, history_lines, cols, alternate }: SnapshotEvent): void {
    if (this.from === null || alternate || cols !== this.before?.cols) return;
    this.draw(this.from - (line - history_lines));
  }

  /** The page is hidden, or shown again. */
  looks(visible: boolean): void {
    if (this.terminal.buffer.active.type !== "normal") return;
    if (!visible) {
      this.left?.dispose();
      this.left = this.terminal.registerMarker(0);
    } else if (this.left && !this.left.isDisposed) {
      this.over = false;
      this.draw(this.left.line);
    }
  }

  typed(): void {
    this.over = true;
    this.drawn?.dispose();
    this.drawn = undefined;
  }

  private draw(row: number): void {
    const { baseY, cursorY } = this.terminal.buffer.active;
    const end = baseY + cursorY;
    if (this.over || row < 0 || row >= end) return; // it is gone, or nothing is new
    this.drawn?.dispose();
    const marker = this.terminal.registerMarker(row - end);
    this.drawn = this.terminal.registerDecoration({ marker, width: this.terminal.cols, layer: "top" });
    this.drawn?.onRender((element) => {
      element.classList.add("since");
      element.title = "New since you looked";
    });
  }
}

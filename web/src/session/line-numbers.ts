// Which row of the terminal has which of the session's lines, by their numbers (search counts them so).
// Rule: a marker moves with its row while older rows are dropped above it. A snapshot sets it anew.

import type { IMarker, Terminal } from "@xterm/xterm";

import type { RawEvent } from "../wire/shapes";

type SnapshotEvent = Extract<RawEvent, { event: "snapshot" }>;

export class LineNumbers {
  private marker: IMarker | undefined;
  private number = 0; // of the line at the marker

  constructor(private readonly terminal: Terminal) {}

  /** A snapshot is on the screen. */
  drew({ line, history_lines, alternate }: SnapshotEvent): void {
    this.marker?.dispose();
    this.marker = undefined;
    if (alternate) return;
    const { baseY, cursorY } = this.terminal.buffer.active;
    this.number = line - history_lines + baseY + cursorY;
    this.marker = this.terminal.registerMarker(0);
  }

  /** Below zero: it is not there, or nobody knows. */
  rowOf(line: number): number {
    if (!this.marker || this.marker.isDisposed) return -1;
    return line - this.number + this.marker.line;
  }
}

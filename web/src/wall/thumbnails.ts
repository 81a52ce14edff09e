// The screens of all sessions, small: rows of text with styles, as the daemon sends them.
// Rule: no terminal is emulated here. The daemon has the screens, and sends the rows that changed.

import { signal, type Signal } from "@preact/signals";

import type { Event, Span } from "../wire/shapes";

export interface Thumbnail {
  rows: number;
  cols: number;
  lines: readonly (readonly Span[])[];
  cursor: { row: number; col: number; visible: boolean };
}

type ThumbnailEvent = Extract<Event, { event: "thumbnail" }>;

/** Add what changed to what was there before. */
export function changed(before: Thumbnail | null, event: ThumbnailEvent): Thumbnail {
  const { rows, cols, cursor } = event;
  const same = before?.rows === rows && before.cols === cols;
  const lines = same ? [...before.lines] : Array.from({ length: rows }, () => []);
  for (const [row, line] of event.lines) lines[row] = line;
  return { rows, cols, cursor, lines };
}

/** The rows up to the last one that shows something. */
export function withoutBlankEnd(lines: Thumbnail["lines"]): Thumbnail["lines"] {
  let end = lines.length;
  while (end > 0 && !lines[end - 1]?.some((span) => span.text.trim() || span.bg)) end -= 1;
  return lines.slice(0, end);
}

/** One signal for each session: a change of one draws that one alone. */
export class Thumbnails {
  private readonly all = new Map<string, Signal<Thumbnail | null>>();

  of(id: string): Signal<Thumbnail | null> {
    let found = this.all.get(id);
    if (!found) this.all.set(id, (found = signal(null)));
    return found;
  }

  hear(event: Event): void {
    if (event.event !== "thumbnail") return;
    const one = this.of(event.session_id);
    one.value = changed(one.peek(), event);
  }
}

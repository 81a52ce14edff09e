// What this person has looked at, in this browser: of each session the last end, question and line.
// Rule: the numbers are the daemon's own, so that clocks need not agree.

import { signal } from "@preact/signals";

import { keep, kept } from "../kept";
import type { Listed } from "../sessions";
import { finishedOf } from "./attention";

export interface SeenSession {
  finished: number | null;
  question: string | null;
  line: number | null; // up to which it was read
  cols: number; // lines have other numbers in another width
}

const MOST = 200; // sessions; the oldest are forgotten

export const seen = signal<ReadonlyMap<string, SeenSession>>(stored());

/** What was seen of a session before the person opened it, or came back to it. */
export const before = signal<{ id: string; seen: SeenSession | null } | null>(null);

/** The person turns to this session. */
export function turnTo(id: string): void {
  before.value = { id, seen: seen.peek().get(id) ?? null };
}

/** The person looks at this session: all of it is seen. */
export function look(one: Listed): void {
  const now: SeenSession = {
    finished: finishedOf(one),
    question: one.question ?? null,
    line: one.line ?? seen.peek().get(one.session_id)?.line ?? null,
    cols: one.cols,
  };
  const before = seen.peek().get(one.session_id);
  if (before && JSON.stringify(before) === JSON.stringify(now)) return;
  const all = new Map(seen.peek());
  all.delete(one.session_id); // so that it is the youngest
  all.set(one.session_id, now);
  seen.value = new Map([...all].slice(-MOST));
  keep("seen", JSON.stringify([...seen.value]));
}

function stored(): Map<string, SeenSession> {
  try {
    return new Map(JSON.parse(kept("seen") ?? "[]") as [string, SeenSession][]);
  } catch {
    return new Map();
  }
}

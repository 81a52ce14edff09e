// What ran in a session, as the daemon lists it, and how the page words it. Rule: pure, no wire.

export interface Entry {
  id: string;
  started: number; // seconds since the epoch, by the daemon's clock
  ended?: number;
  running?: boolean;
  exit_code?: number;
  duration_ms?: number;
  by?: string;
  person?: boolean;
  run_id?: string;
  line?: number;
  generation?: number;
  last_generation?: number;
  command?: string;
}

export interface Listed {
  total: number;
  earlier?: boolean;
  entries?: Entry[];
}

export const MOST = 200; // entries that the page keeps

/** The list with one entry added or replaced; in the order in which they began. */
export function withEntry(entries: readonly Entry[], entry: Entry): Entry[] {
  const others = entries.filter((one) => one.id !== entry.id);
  return [...others, entry].sort((a, b) => a.started - b.started).slice(-MOST);
}

/** Who ran it: a program in its own words, or a person by where they sat. */
export function whoOf(entry: Entry): string {
  if (entry.by === undefined) return "unknown";
  if (!entry.person) return entry.by;
  return entry.by === "web page" ? "a person, on the page" : `a person, ${entry.by}`;
}

export type Outcome = { text: string; tone: "busy" | "bad" | "calm" };

export function outcomeOf(entry: Entry): Outcome {
  if (entry.running) return { text: "running", tone: "busy" };
  if (entry.ended === undefined) return { text: "end not seen", tone: "calm" };
  if (entry.exit_code === undefined) return { text: "ended", tone: "calm" };
  return entry.exit_code
    ? { text: `exit ${entry.exit_code}`, tone: "bad" }
    : { text: "ok", tone: "calm" };
}

/** A duration in as few characters as tell it. */
export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor(ms / 1000) % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The hour, and the day if that is another one than today's. */
export function whenOf(seconds: number, today: Date = new Date()): string {
  const then = new Date(seconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const hour = `${two(then.getHours())}:${two(then.getMinutes())}:${two(then.getSeconds())}`;
  if (then.toDateString() === today.toDateString()) return hour;
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${hour}`;
}

/** The last command that had begun by a moment. */
export function chapterAt(entries: readonly Entry[], moment: number): Entry | undefined {
  return entries.filter((one) => one.started <= moment + 0.05).at(-1);
}

/** The command that begins where a marker of the recording stands. */
export function entryNear(entries: readonly Entry[], moment: number): Entry | undefined {
  let best: Entry | undefined;
  for (const one of entries) {
    const away = Math.abs(one.started - moment);
    if (away < 1 && (!best || away < Math.abs(best.started - moment))) best = one;
  }
  return best;
}

/**
 * The row of a command's line: of the rows that have its text, the one nearest to where its number
 * says. Numbers are others after the width has changed, so that the text decides. -1: none.
 */
export function rowOf(rows: readonly string[], expected: number, command: string): number {
  const first = command.split("\n", 1)[0]?.trim() ?? "";
  if (!first) return -1;
  const has = (row: string | undefined) => {
    const text = row?.trimEnd() ?? "";
    if (text.endsWith(first)) return true;
    // Broken by the width: the row has the prompt and as much of the line as fits.
    for (let length = Math.min(first.length, text.length); length >= 8; length -= 1) {
      if (text.endsWith(first.slice(0, length))) return true;
    }
    return false;
  };
  for (let away = 0; away < rows.length; away += 1) {
    if (has(rows[expected + away])) return expected + away;
    if (away && has(rows[expected - away])) return expected - away;
  }
  return -1;
}

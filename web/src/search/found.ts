// What a search found, as the daemon answers it, and how the page shows it.

export interface Hit {
  session: string;
  session_id: string;
  time: number; // seconds since the epoch
  generation: number;
  text: string;
  start: number; // in characters, not in UTF-16's units
  end: number;
  line?: number;
  row?: number;
  run_id?: string;
  versions?: number;
  before?: string[];
  after?: string[];
}

export interface Found {
  total: number;
  searched_sessions: number;
  complete: boolean;
  searched_since?: number;
  next_offset?: number;
  not_searched?: { session: string; session_id: string; reason: string }[];
  hits?: Hit[];
}

export interface Group {
  id: string;
  name: string;
  hits: Hit[];
}

/** Hits by session, the session with the newest hit first. */
export function grouped(hits: Hit[]): Group[] {
  const groups = new Map<string, Group>();
  for (const hit of hits) {
    const known = groups.get(hit.session_id);
    if (known) known.hits.push(hit);
    else groups.set(hit.session_id, { id: hit.session_id, name: hit.session, hits: [hit] });
  }
  return [...groups.values()];
}

/** A line in three parts: before, what was found, after; `most` characters before it. */
export function parts(
  hit: Pick<Hit, "text" | "start" | "end">,
  most: number,
): [string, string, string] {
  const chars = [...hit.text];
  const first = hit.start > most * 1.3 ? hit.start - most : 0;
  const before = (first ? "…" : "") + chars.slice(first, hit.start).join("");
  return [before, chars.slice(hit.start, hit.end).join(""), chars.slice(hit.end).join("")];
}

/** What is said above the hits. */
export function summary(found: Found): string {
  const many = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
  if (!found.total) return `Nothing found in ${many(found.searched_sessions, "session")}.`;
  const groups = grouped(found.hits ?? []).length;
  const listed = found.hits?.length ?? 0;
  const shown = listed < found.total ? `the newest ${listed} of ` : "";
  return `${shown}${many(found.total, "hit")} in ${many(groups, "session")}`;
}

/** The place of a line in a terminal's rows; of several the last whose row above fits. -1: none. */
export function placeOf(rows: string[], hit: Hit): number {
  const text = hit.text.trimEnd();
  const above = hit.before?.at(-1)?.trimEnd();
  let found = -1;
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at]?.trimEnd() ?? "";
    if (!row || !(row === text || (text.startsWith(row) && row.length >= 20))) continue;
    const over = rows[at - 1]?.trimEnd() ?? "";
    if (above === undefined || over === above || (over.length >= 20 && above.endsWith(over))) return at;
    if (found < 0) found = at;
  }
  return found;
}

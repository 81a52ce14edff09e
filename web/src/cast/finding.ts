// What a search found, as moments of a recording. Rule: pure.

import type { Found } from "../search/found";
import type { Recording } from "./recording";

export interface Moments {
  times: number[]; // seconds since the recording's beginning, each once, in order
  matches: number; // lines; several may have come at one moment
  more: boolean; // there are others, which are not listed or not in this recording
}

/** The moments of hits that the recording has. */
export function momentsOf(found: Found, recording: Pick<Recording, "began" | "duration">): Moments {
  const hits = found.hits ?? [];
  const times = hits
    .map((hit) => hit.time - recording.began)
    .filter((time) => time >= -0.5 && time <= recording.duration + 0.5)
    .map((time) => Math.min(Math.max(0, time), recording.duration))
    .sort((a, b) => a - b);
  const apart = times.filter((time, at) => at === 0 || time - (times[at - 1] ?? 0) > 0.001);
  const more = found.total > hits.length || times.length < hits.length;
  return { times: apart, matches: times.length, more };
}

/** The place of the first moment at or after this one; else the last. */
export function nearest(times: readonly number[], now: number): number {
  const at = times.findIndex((time) => time >= now - 0.001);
  return at >= 0 ? at : Math.max(0, times.length - 1);
}

/** Where one is among them. A moment may have several matches: then both are said. */
export function countOf({ times, matches, more }: Moments, at: number): string {
  if (!times.length) return more ? "not in this recording" : "not found";
  const plus = more ? "+" : "";
  const place = `${at + 1} of ${times.length}${plus}`;
  return matches === times.length ? place : `moment ${place}, ${matches}${plus} matches`;
}

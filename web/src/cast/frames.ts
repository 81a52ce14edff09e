// A screen of a recording at one of its moments, and how to find the one to begin from.

export interface Keyframe {
  time: number;
  next: number; // the first event after it
  cols: number;
  rows: number;
  screen: string; // what draws it on an empty terminal
}

/** The last one that is not after a moment; they are in order. */
export function lastBefore<T extends { time: number }>(
  frames: readonly T[],
  time: number,
): T | null {
  let found: T | null = null;
  for (const frame of frames) {
    if (frame.time > time) break;
    found = frame;
  }
  return found;
}

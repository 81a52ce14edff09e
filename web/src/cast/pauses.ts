// The clock of a replay from which long pauses are cut, and the session's own time.
// Rule: both run forward together, so that either can be found from the other.

export class Pauses {
  readonly duration: number; // as it is shown
  private readonly real: number[] = [0]; // where pieces begin, by the session's time
  private readonly shown: number[] = [0]; // the same by this clock

  /** `times` of what happens, in order; a pause longer than `longest` seconds counts as that. */
  constructor(times: readonly number[], end: number, longest: number) {
    let [last, now] = [0, 0];
    for (const time of [...times, end]) {
      const pause = time - last;
      now += Math.min(pause, longest);
      if (pause > longest) {
        // Time passes as ever until the bound, and then it jumps.
        this.real.push(last + longest, time);
        this.shown.push(now, now);
      }
      last = time;
    }
    this.duration = now;
    this.real.push(last);
    this.shown.push(now);
  }

  toShown(real: number): number {
    const at = before(this.real, real);
    const [from, to] = [this.real[at] ?? 0, this.real[at + 1] ?? Infinity];
    const [begin, end] = [this.shown[at] ?? 0, this.shown[at + 1] ?? this.duration];
    return to > from ? Math.min(begin + (real - from), end) : begin;
  }

  toReal(shown: number): number {
    const at = before(this.shown, shown);
    return Math.min((this.real[at] ?? 0) + shown - (this.shown[at] ?? 0), this.real.at(-1) ?? 0);
  }
}

/** The last place whose value is not above this one. */
function before(values: readonly number[], wanted: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] ?? 0) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

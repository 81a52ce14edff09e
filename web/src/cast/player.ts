// Plays a recording on a terminal.
// Rule 1: to go back, draw the keyframe before the moment and play on from there: a terminal cannot
// undo output. Going far forward does the same.
// Rule 2: one seek at a time. While somebody drags the timeline, only the last position counts.
// Rule 3: a moment is the session's own time. The clock that people see may have its pauses cut;
// that changes while it plays, and the moment stays.

import { computed, signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";

import type { Keyframe } from "./frames";
import { Pauses } from "./pauses";
import type { Recording } from "./recording";

export const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;

// Seconds: a recording has whole milliseconds, and a search or a link the exact moment.
const ROUNDED = 0.0006;
const LONGEST_PAUSE = 2; // seconds, while pauses are cut

export class Player {
  readonly time = signal(0); // the session's own
  readonly playing = signal(false);
  readonly speed = signal<number>(1);
  readonly cut = signal(true);
  readonly clock = computed(() => (this.cut.value ? this.short : this.whole));

  private readonly short: Pauses;
  private readonly whole: Pauses;
  private at = 0; // the next event
  private shown = 0; // the moment that the terminal shows
  private wish: number | null = null;
  private running = false;
  private shownBy = Promise.resolve(); // when the last wish is drawn
  private frame = 0;
  private last = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly recording: Recording,
    private readonly resized: () => void,
    private readonly keyframe: (time: number) => Keyframe | null = () => null,
  ) {
    const times = recording.events.map((event) => event.time);
    this.short = new Pauses(times, recording.duration, LONGEST_PAUSE);
    this.whole = new Pauses([], recording.duration, Infinity);
    this.begin(null);
  }

  /** The moment on the clock that people see. */
  get now(): number {
    return this.clock.value.toShown(this.time.value);
  }

  toggle(): void {
    if (this.playing.value) this.pause();
    else this.play();
  }

  play(): void {
    if (this.time.value >= this.recording.duration) this.seek(0);
    this.playing.value = true;
    this.last = performance.now();
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(this.tick);
  }

  pause(): void {
    this.playing.value = false;
    cancelAnimationFrame(this.frame);
  }

  seek(time: number): void {
    this.time.value = Math.min(Math.max(0, time), this.recording.duration);
    this.wish = this.time.value;
    if (!this.running) this.shownBy = this.run();
  }

  /** Go to a moment, and wait until the terminal shows it. */
  async shows(time: number): Promise<void> {
    this.seek(time);
    await this.shownBy;
    await new Promise<void>((drawn) => this.terminal.write("", drawn));
  }

  /** To a moment of the clock that people see. */
  seekShown(shown: number): void {
    const clock = this.clock.value;
    this.seek(clock.toReal(Math.min(Math.max(0, shown), clock.duration)));
  }

  /** To the marker before or after this moment. */
  step(direction: 1 | -1): void {
    const now = this.time.value;
    const times = this.recording.markers.map((marker) => marker.time);
    // Skip markers less than a second ago; else one could never get past a marker while it plays.
    const next =
      direction > 0
        ? times.find((time) => time > now + 0.01)
        : times.filter((time) => time < now - 1).at(-1);
    this.seek(next ?? (direction > 0 ? this.recording.duration : 0));
  }

  quicken(direction: 1 | -1): void {
    const at = SPEEDS.findIndex((speed) => speed === this.speed.value) + direction;
    this.speed.value = SPEEDS[Math.min(Math.max(0, at), SPEEDS.length - 1)] ?? 1;
  }

  close(): void {
    this.pause();
    this.wish = null;
  }

  private readonly tick = (now: number): void => {
    const passed = ((now - this.last) / 1000) * this.speed.value;
    this.last = now;
    this.seekShown(this.now + passed);
    if (this.time.value >= this.recording.duration) this.playing.value = false;
    else if (this.playing.value) this.frame = requestAnimationFrame(this.tick);
  };

  private begin(frame: Keyframe | null): void {
    this.at = frame?.next ?? 0;
    this.shown = frame?.time ?? 0;
    this.terminal.write("\x1bc");
    this.resize(frame?.cols ?? this.recording.cols, frame?.rows ?? this.recording.rows);
    if (frame) this.terminal.write(frame.screen);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.wish !== null) {
      const to = this.wish;
      this.wish = null;
      const frame = this.keyframe(to);
      if (to < this.shown || (frame !== null && frame.next > this.at)) this.begin(frame);
      await this.advance(to);
    }
    this.running = false;
  }

  private async advance(to: number): Promise<void> {
    const { events } = this.recording;
    let text = "";
    for (; this.at < events.length; this.at += 1) {
      const event = events[this.at];
      if (!event || event.time > to + ROUNDED) break;
      if (event.code === "o") {
        text += event.data;
        continue;
      }
      await this.write(text); // what was printed before was printed at the former size
      text = "";
      const [cols, rows] = event.data.split("x").map(Number);
      if (cols && rows) this.resize(cols, rows);
    }
    this.shown = to;
    await this.write(text);
  }

  private resize(cols: number, rows: number): void {
    if (cols !== this.terminal.cols || rows !== this.terminal.rows) {
      this.terminal.resize(cols, rows);
    }
    this.resized();
  }

  private write(text: string): Promise<void> {
    if (!text) return Promise.resolve();
    return new Promise((resolve) => this.terminal.write(text, resolve));
  }
}

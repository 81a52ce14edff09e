// Plays a recording on a terminal.
// Rule 1: to go back, play again from the start up to the moment: a terminal cannot undo output.
// Rule 2: one seek at a time. While somebody drags the timeline, only the last position counts.

import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";

import type { Recording } from "./recording";

export const SPEEDS = [0.5, 1, 2, 4, 8, 16] as const;

export class Player {
  readonly time = signal(0);
  readonly playing = signal(false);
  readonly speed = signal<number>(1);

  private at = 0; // the next event
  private shown = 0; // the moment that the terminal shows
  private wish: number | null = null;
  private running = false;
  private frame = 0;
  private last = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly recording: Recording,
    private readonly resized: () => void,
  ) {
    this.begin();
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
    void this.run();
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
    this.seek(this.time.value + passed);
    if (this.time.value >= this.recording.duration) this.playing.value = false;
    else if (this.playing.value) this.frame = requestAnimationFrame(this.tick);
  };

  private begin(): void {
    this.at = 0;
    this.shown = 0;
    this.terminal.write("\x1bc");
    this.resize(this.recording.cols, this.recording.rows);
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.wish !== null) {
      const to = this.wish;
      this.wish = null;
      if (to < this.shown) this.begin();
      await this.advance(to);
    }
    this.running = false;
  }

  private async advance(to: number): Promise<void> {
    const { events } = this.recording;
    let text = "";
    for (; this.at < events.length; this.at += 1) {
      const event = events[this.at];
      if (!event || event.time > to) break;
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

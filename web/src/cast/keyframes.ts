// Screens of a recording at some of its moments: to go back at once, and for the film strip.
// Rule: they are made in the background by a terminal that nobody sees. Until one is there, the
// player plays from the start.

import { signal } from "@preact/signals";
import { SerializeAddon } from "@xterm/addon-serialize";
import { Terminal } from "@xterm/xterm";

import { followClusters } from "../terminal/clusters";
import { lastBefore, type Keyframe } from "./frames";
import type { Recording } from "./recording";
import { tileOf, type Tile } from "./tile";

const APART = 256 << 10; // characters of output after which there is one in any case
const SLICE = 64 << 10; // characters written at once: others draw in between

export class Keyframes {
  /** Pictures for the strip, as far as they are made, by their number. */
  readonly tiles = signal<readonly Tile[]>([]);
  private readonly frames: Keyframe[] = [];
  private stopped = false;

  /** `moments` are where the strip has its pictures, in order. */
  constructor(
    private readonly recording: Recording,
    private readonly moments: readonly number[],
  ) {}

  /** The last one before or at a moment. */
  before(time: number): Keyframe | null {
    return lastBefore(this.frames, time);
  }

  close(): void {
    this.stopped = true;
  }

  async make(): Promise<void> {
    const { cols, rows, events, duration } = this.recording;
    const terminal = new Terminal({ cols, rows, scrollback: 0, allowProposedApi: true });
    const packing = new SerializeAddon();
    terminal.loadAddon(packing);
    followClusters(terminal);
    const write = (text: string) =>
      new Promise<void>((resolve) => (text ? terminal.write(text, resolve) : resolve()));
    let [text, since, tile] = ["", 0, 0];
    const keep = async (time: number, next: number) => {
      await write(text);
      [text, since] = ["", 0];
      const size = { cols: terminal.cols, rows: terminal.rows };
      this.frames.push({ time, next, ...size, screen: packing.serialize({ scrollback: 0 }) });
    };
    for (let at = 0; at <= events.length && !this.stopped; at += 1) {
      const event = events[at];
      const time = event?.time ?? duration;
      while (tile < this.moments.length && ((this.moments[tile] ?? 0) < time || !event)) {
        await keep(this.moments[tile] ?? 0, at);
        this.tiles.value = [...this.tiles.value, tileOf(terminal)];
        tile += 1;
      }
      if (!event) break;
      if (event.code === "o") {
        text += event.data;
        since += event.data.length;
      } else {
        await write(text);
        text = "";
        const [wide, high] = event.data.split("x").map(Number);
        if (wide && high) terminal.resize(wide, high);
      }
      if (since > APART) await keep(event.time, at + 1);
      else if (text.length > SLICE) {
        await write(text);
        text = "";
      }
    }
    terminal.dispose();
  }
}

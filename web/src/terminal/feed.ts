// Writes what comes from the raw door to a terminal.
// Rule 1: a snapshot replaces everything. It is one write, so that no empty screen flashes up.
// Rule 2: while a person looks back, snapshots wait, so that what they read stays in place.
// Rule 3: nothing grows without a bound. A page that draws slower than the program prints drops
// output, and asks for the current screen instead. It tells the daemon what it has drawn, which sends
// no more than a moment's work ahead: so what a key does shows soon, also in a flood.

import { signal } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";

import { SCROLLBACK } from "../wire/raw-door";
import type { RawEvent } from "../wire/shapes";

const BEHIND = 4 << 20; // bytes not drawn yet, from which output is dropped
const CAUGHT_UP = 64 << 10; // bytes not drawn yet, from which the screen is asked for again
const HELD = 2 << 20; // bytes that wait while a person looks back; then a fresh screen instead

type SnapshotEvent = Extract<RawEvent, { event: "snapshot" }>;

interface Frame {
  snapshot: SnapshotEvent | null;
  data: Uint8Array;
  owed: number; // bytes that the daemon has yet to hear of as drawn
}

const encoder = new TextEncoder();

export class Feed {
  /** Newer output waits, because the person is looking back. */
  readonly waits = signal(false);

  private announced: SnapshotEvent | null = null;
  private undrawn = 0;
  private behind = false;
  private held: Frame[] | null = null;
  private heldBytes = 0;
  private snapshots = 0;
  private stale = false; // lines are missing above what is here
  private returning: number | null = null; // rows above the end to go to, once lines are there
  private settling = false; // they are being drawn

  constructor(
    private readonly terminal: Terminal,
    private readonly refresh: (scrollback: number) => boolean,
    private readonly resized: (rows: number, cols: number) => void,
    private readonly drew: (snapshot: SnapshotEvent) => void = () => undefined,
    private readonly done: (bytes: number) => void = () => undefined,
  ) {
    terminal.onScroll(() => this.letGo());
  }

  told(event: SnapshotEvent): void {
    this.announced = event;
  }

  printed(data: Uint8Array): void {
    const snapshot = this.announced;
    this.announced = null;
    if (snapshot) this.behind = false;
    else if (this.behind) return this.done(data.length);
    if (this.mustWait(snapshot)) {
      this.hold({ snapshot, data, owed: 0 });
      this.done(data.length); // it waits for the person, not for the page
    } else this.draw({ snapshot, data, owed: data.length });
  }

  /** The person scrolls up: ask for the lines that are missing there. */
  lookUp(): void {
    const buffer = this.terminal.buffer.active;
    if (!this.stale || this.returning !== null) return;
    if (buffer.type !== "normal" || buffer.viewportY > 0) return;
    if (this.refresh(SCROLLBACK)) this.returning = buffer.baseY - buffer.viewportY;
  }

  toNow(): void {
    this.terminal.scrollToBottom();
    this.letGo();
    this.terminal.focus();
  }

  /** The connection broke: what was announced will not come. */
  interrupted(): void {
    this.announced = null;
    this.behind = false;
    this.returning = null;
    this.settling = false;
  }

  /** Called when the wheel turns or the viewport moved. */
  readonly letGo = (): void => {
    if (!this.looksBack && !this.held) this.waits.value = false;
    if (!this.held || this.looksBack || this.settling) return;
    const frames = this.held;
    this.held = null;
    this.waits.value = false;
    if (this.heldBytes > HELD) this.refresh(0);
    else frames.forEach((frame) => this.draw(frame));
  };

  private get looksBack(): boolean {
    const buffer = this.terminal.buffer.active;
    return buffer.type === "normal" && buffer.viewportY < buffer.baseY;
  }

  private mustWait(snapshot: SnapshotEvent | null): boolean {
    if (this.held) return true;
    if (!snapshot) return false;
    const asked = this.returning !== null && snapshot.history_lines > 0;
    return this.settling || (this.looksBack && !asked);
  }

  private hold(frame: Frame): void {
    if (frame.snapshot) {
      this.held = [];
      this.heldBytes = 0;
    }
    this.waits.value = true;
    this.heldBytes += frame.data.length;
    if (this.heldBytes <= HELD) this.held?.push(frame);
    else this.held = [];
  }

  private draw({ snapshot, data, owed }: Frame): void {
    if (snapshot) return this.drawSnapshot(snapshot, data, owed);
    if (this.undrawn > BEHIND) {
      this.behind = true;
      return this.done(owed);
    }
    this.write(data, () => this.done(owed));
  }

  private drawSnapshot(snapshot: SnapshotEvent, data: Uint8Array, owed: number): void {
    const { rows, cols, history_lines: lines } = snapshot;
    this.resized(rows, cols);
    if (this.terminal.rows !== rows || this.terminal.cols !== cols) {
      this.terminal.resize(cols, rows);
    }
    this.stale = lines === 0 && this.snapshots > 0 && !snapshot.alternate;
    this.snapshots += 1;
    const back = lines > 0 ? this.returning : null;
    if (back !== null) {
      this.returning = null;
      this.settling = true;
    }
    // RIS resets the terminal; 1049 is the alternate screen (xterm ctlseqs).
    const head = snapshot.alternate ? "\x1bc\x1b[?1049h" : "\x1bc";
    this.write(join(encoder.encode(head), data), () => {
      this.done(owed);
      this.drew(snapshot);
      if (back === null) return;
      this.terminal.scrollLines(-(back + 3));
      this.settling = false;
      this.letGo();
    });
  }

  private write(data: Uint8Array, then?: () => void): void {
    this.undrawn += data.length;
    this.terminal.write(data, () => {
      this.undrawn -= data.length;
      if (this.looksBack && !this.settling && this.returning === null) this.waits.value = true;
      then?.();
      if (this.behind && this.undrawn < CAUGHT_UP) this.behind = !this.refresh(0);
    });
  }
}

function join(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// What the person has typed and the daemon has not confirmed yet.
// Rule 1: it is kept until the terminal has taken it. After a reconnect the daemon says what that
// was; the rest is sent again, so every byte is typed once.
// Rule 2: half a line is worse than none. When something is lost, or came too late, all that follows
// is dropped up to and with the Enter that would run the rest. Ctrl+C and Ctrl+U end that too and
// are passed on: what they leave of a line runs nothing.
// Rule 3: keys wait for a connection for a limited time and up to a limited size: late keys would
// reach a screen that has changed.

import { signal } from "@preact/signals";

const MOST = 4096; // bytes without a connection, and
const PATIENCE = 10_000; // ms: as `nacre attach` waits for the next daemon

type Bytes = Uint8Array<ArrayBuffer>;

/** What a text message to the daemon says, beside the heartbeat that was heard last. */
export interface TypedMessage {
  type: string;
  number: number;
  go_on?: true;
}

/** What became of what was typed before a reconnect. */
interface Known {
  taken: number;
  received: number;
  unsure: boolean;
  dropped: boolean;
}

export class Typed {
  /** Why what is typed is dropped, or null if it is not. */
  readonly dropping = signal<string | null>(null);

  private kept: Bytes = new Uint8Array();
  private first = 0; // number of the first kept byte
  private sent = 0; // bytes of what is kept that this connection has sent
  private resumed = 0; // number of the first byte after what was dropped last
  private lost = 0; // number of the first byte of that
  private goesOn = false;
  private open = false;
  private timer = 0;

  /** False: it is dropped. */
  add(data: Bytes): boolean {
    let typed = data;
    if (this.dropping.value !== null) {
      const rest = afterLine(data);
      this.leaveOut(data.length - (rest?.length ?? 0));
      if (!rest) return false;
      this.goOn();
      typed = rest;
    }
    this.kept = join(this.kept, typed);
    if (this.open) return true;
    if (this.kept.length - this.sent > MOST) {
      this.drop("Not connected: what you typed was not sent.");
      return false;
    }
    this.beImpatient();
    return true;
  }

  /** The person knows what was dropped, and goes on. */
  goOn(): void {
    if (this.dropping.value === null) return;
    this.dropping.value = null;
    this.goesOn = true;
  }

  /** Connected again: the daemon says what became of what was typed before. */
  typing({ taken, received, unsure, dropped }: Known): void {
    this.open = true;
    clearTimeout(this.timer);
    this.timer = 0;
    this.forget(taken - this.first);
    this.sent = Math.min(this.kept.length, Math.max(0, received - this.first));
    // Who has just said that they go on has sent nothing since.
    if (this.goesOn) return;
    if (unsure && (this.kept.length || this.dropping.value !== null)) {
      this.drop("The daemon died at that moment: what you typed may have arrived, or not.");
    } else if (dropped && this.dropping.value === null && this.kept.length) {
      this.drop("What you typed was not sent: it came late.");
    } else if (this.dropping.value !== null && this.lost < this.resumed) {
      if (taken >= this.resumed) this.goOn(); // all of it had arrived
      else if (taken > this.lost) this.dropping.value = "A part of what you typed was not sent.";
      else this.dropping.value = "What you typed was not sent: the connection was gone.";
    }
  }

  taken(number: number): void {
    this.forget(number - this.first);
  }

  /** The daemon drops what was typed before this number and what follows. */
  dropped(number: number, why: string): void {
    if (this.dropping.value !== null || number <= this.resumed) return;
    this.drop(`What you typed was not sent: ${why || "the daemon did not take it"}.`);
  }

  /** The connection is gone. */
  went(): void {
    this.open = false;
    if (this.kept.length) this.beImpatient();
  }

  /** Nothing was heard for a while: what was sent meanwhile is not sent again. */
  silent(): void {
    if (this.kept.length) this.giveUp();
  }

  /** What is to be sent now, or null. */
  message(): TypedMessage | null {
    const keys = this.kept.subarray(this.sent);
    // That the person goes on is said at once: what had arrived of the line is erased then.
    if (!this.open || (!keys.length && !this.goesOn)) return null;
    const message: TypedMessage = { type: inBase64(keys), number: this.first + this.sent };
    if (this.goesOn) message.go_on = true;
    this.goesOn = false;
    this.sent = this.kept.length;
    return message;
  }

  /** Nothing more will be sent. */
  close(): void {
    clearTimeout(this.timer);
    this.forget(this.kept.length);
    this.dropping.value = null;
  }

  private beImpatient(): void {
    this.timer ||= window.setTimeout(() => this.giveUp(), PATIENCE);
  }

  private giveUp(): void {
    this.drop(
      this.sent
        ? "Not connected: what you typed last may not have arrived, and is not sent again."
        : "Not connected: what you typed was not sent.",
    );
  }

  private drop(why: string): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.lost = this.first;
    this.forget(this.kept.length);
    this.resumed = this.first;
    this.goesOn = false;
    this.dropping.value = why;
  }

  /** Count what is dropped as it is typed: the daemon sees that something is missing. */
  private leaveOut(count: number): void {
    this.first += count;
    this.resumed = this.first;
  }

  private forget(count: number): void {
    const gone = Math.max(0, Math.min(count, this.kept.length));
    this.kept = this.kept.slice(gone);
    this.first += gone;
    this.sent = Math.max(0, this.sent - gone);
  }
}

const ENDS = /(\x1b\[200~[^]*?(?:\x1b\[201~|$))|([\r\n])|[\x03\x15]/g;

/** What was typed after the line that is dropped; null if the line goes on. */
function afterLine(data: Bytes): Bytes | null {
  // One character for each byte: indexes are those of the bytes.
  const text = Array.from(data, (byte) => String.fromCharCode(byte)).join("");
  for (const found of text.matchAll(ENDS)) {
    if (found[1] !== undefined) continue; // pasted: an Enter in it is text
    return data.slice(found.index + (found[2] === undefined ? 0 : 1));
  }
  return null;
}

function join(one: Bytes, other: Bytes): Bytes {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}

const PART = 0x8000; // as many arguments as a call may have

function inBase64(data: Bytes): string {
  let text = "";
  for (let at = 0; at < data.length; at += PART) {
    text += String.fromCharCode(...data.subarray(at, at + PART));
  }
  return btoa(text);
}

// A WebSocket that reconnects by itself.
// Rule 1: no polling while it is open; the socket reports when it is closed. A network that has died
// reports nothing: who hears no heartbeat for too long takes the connection for dead, says so, and
// connects anew. So does who is told, beat by beat, that what it sent did not arrive.
// Rule 2: pauses between attempts double up to a limit, with some randomness, so that many pages do
// not reconnect at the same moment. They stay short for as long as keys wait for the connection
// (typed.ts): a daemon that took some seconds to come back must find them.

import { signal, type ReadonlySignal } from "@preact/signals";

import { Refused, ticket } from "./api";
import { socketAddress } from "./place";

const FIRST_PAUSE = 200; // ms; a daemon that was killed is back within a second
const LONGEST_PAUSE = 8000;
const EAGER = 10_000; // ms after a loss, in which
const EAGER_PAUSE = 1000; // is the longest pause
const OPENING = 10_000; // ms until the first message of a new connection
// ms in which messages that wait in this page are read before it counts as silence: a page that was
// busy or asleep is told of its timers first.
const GRACE = 250;

export type LinkState = "opening" | "open" | "closed";

export interface Listener {
  opened?(): void;
  text(message: string): void;
  bytes?(data: Uint8Array): void;
  closed?(): void;
  silent?(): void;
}

export class Link {
  private readonly stateOf = signal<LinkState>("opening");
  private readonly silence = signal(false);
  private readonly deafness = signal(false);
  private sent = 0; // messages on this connection
  // The first one that the other side has not confirmed, and since when that is known.
  private under: { message: number; since: number } | null = null;
  private heardAt = performance.now();
  private limit: number | null = null; // ms without a message; null: not known
  private watch = 0; // the timer
  private socket: WebSocket | null = null;
  private timer = 0;
  private pause = FIRST_PAUSE;
  private lostAt: number | null = null; // since when nothing was heard
  private wanted = true;

  constructor(
    private readonly path: string,
    private readonly query: () => Record<string, string>,
    private readonly listener: Listener,
  ) {
    addEventListener("online", this.hurry);
    document.addEventListener("visibilitychange", this.hurry);
    void this.open();
  }

  get state(): ReadonlySignal<LinkState> {
    return this.stateOf;
  }

  /** Whether the connection was taken for dead, and nothing has been heard since. */
  get silent(): ReadonlySignal<boolean> {
    return this.silence;
  }

  /** Whether that was because what was sent did not arrive. */
  get deaf(): ReadonlySignal<boolean> {
    return this.deafness;
  }

  /** The other side has got so many messages of this connection. */
  got(count: number): void {
    const now = performance.now();
    if (count >= this.sent) this.under = null;
    else if (this.under && count >= this.under.message) {
      this.under = { message: count + 1, since: now };
    }
    if (!this.under || this.limit === null) return;
    if (this.socket?.bufferedAmount) this.under.since = now; // a large one, on its way
    else if (now - this.under.since > this.limit) {
      this.deafness.value = true;
      this.giveUp();
    }
  }

  /** From now on something is heard at least this often, in ms. */
  expect(silence: number): void {
    this.limit = silence;
    this.listenFor(silence);
  }

  send(message: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(message);
    this.sent += 1;
    this.under ??= { message: this.sent, since: performance.now() };
    return true;
  }

  /** The other side has answered, so the next pause is short again. */
  isWell(): void {
    this.pause = FIRST_PAUSE;
    this.lostAt = null;
  }

  close(): void {
    this.wanted = false;
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    removeEventListener("online", this.hurry);
    document.removeEventListener("visibilitychange", this.hurry);
    this.socket?.close();
    this.stateOf.value = "closed";
  }

  private readonly hurry = (): void => {
    if (this.timer && !document.hidden) {
      clearTimeout(this.timer);
      void this.open();
    }
  };

  private async open(): Promise<void> {
    this.timer = 0;
    this.stateOf.value = "opening";
    try {
      const query = { ticket: await ticket(AbortSignal.timeout(OPENING)), ...this.query() };
      if (!this.wanted) return;
      this.listen(new WebSocket(socketAddress(this.path, query)));
    } catch (error) {
      // Without a valid key the login is shown, which starts over.
      if (!(error instanceof Refused && error.status === 401)) this.later();
    }
  }

  private listen(socket: WebSocket): void {
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    this.limit = null;
    this.sent = 0;
    this.under = null;
    this.listenFor(OPENING);
    socket.onopen = () => {
      this.stateOf.value = "open";
      this.listener.opened?.();
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (!this.wanted || this.socket !== socket) return;
      this.heardAt = performance.now();
      this.silence.value = this.deafness.value = false;
      if (typeof data === "string") this.listener.text(data);
      else this.listener.bytes?.(new Uint8Array(data));
    };
    socket.onclose = () => {
      if (this.wanted && this.socket === socket) this.lose();
    };
  }

  private lose(): void {
    this.socket = null;
    clearTimeout(this.watch);
    this.listener.closed?.();
    this.later();
  }

  private listenFor(ms: number): void {
    this.heardAt = performance.now();
    clearTimeout(this.watch);
    this.watch = window.setTimeout(() => this.look(ms), ms);
  }

  private look(ms: number, { again = false } = {}): void {
    const left = ms - (performance.now() - this.heardAt);
    if (left > 0) this.watch = window.setTimeout(() => this.look(ms), left);
    else if (!again) this.watch = window.setTimeout(() => this.look(ms, { again: true }), GRACE);
    else this.giveUp();
  }

  private giveUp(): void {
    const socket = this.socket;
    // A connection that was never open says nothing new: the page is connecting anyway.
    if (this.limit !== null) {
      this.silence.value = true;
      this.listener.silent?.();
    }
    this.lose();
    socket?.close();
  }

  private later(): void {
    if (!this.wanted) return;
    this.stateOf.value = "opening";
    const now = performance.now();
    this.lostAt ??= now;
    const longest = now - this.lostAt < EAGER ? EAGER_PAUSE : LONGEST_PAUSE;
    const pause = Math.min(this.pause, longest) * (0.75 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, longest);
    this.timer = window.setTimeout(() => void this.open(), pause);
  }
}

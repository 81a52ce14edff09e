// A WebSocket that reconnects by itself.
// Rule 1: no polling while it is open; the socket reports when it is closed.
// Rule 2: pauses between attempts double up to a limit, with some randomness, so that many pages do
// not reconnect at the same moment.

import { signal, type ReadonlySignal } from "@preact/signals";

import { Refused, ticket } from "./api";
import { socketAddress } from "./place";

const FIRST_PAUSE = 200; // ms; a daemon that was killed is back within a second
const LONGEST_PAUSE = 8000;

export type LinkState = "opening" | "open" | "closed";

export interface Listener {
  opened?(): void;
  text(message: string): void;
  bytes?(data: Uint8Array): void;
  closed?(): void;
}

export class Link {
  private readonly stateOf = signal<LinkState>("opening");
  private socket: WebSocket | null = null;
  private timer = 0;
  private pause = FIRST_PAUSE;
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

  send(message: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(message);
    return true;
  }

  /** The other side has answered, so the next pause is short again. */
  isWell(): void {
    this.pause = FIRST_PAUSE;
  }

  close(): void {
    this.wanted = false;
    clearTimeout(this.timer);
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
      const query = { ticket: await ticket(), ...this.query() };
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
    socket.onopen = () => {
      this.stateOf.value = "open";
      this.listener.opened?.();
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (!this.wanted) return;
      if (typeof data === "string") this.listener.text(data);
      else this.listener.bytes?.(new Uint8Array(data));
    };
    socket.onclose = () => {
      if (!this.wanted || this.socket !== socket) return;
      this.socket = null;
      this.listener.closed?.();
      this.later();
    };
  }

  private later(): void {
    if (!this.wanted) return;
    this.stateOf.value = "opening";
    const pause = this.pause * (0.75 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE);
    this.timer = window.setTimeout(() => void this.open(), pause);
  }
}

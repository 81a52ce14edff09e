// The bytes of one session over /ws/raw: what its terminal prints, and the keys of the person.

import { Link } from "./link";
import { randomId } from "./place";
import type { RawEvent } from "./shapes";
import { Typed } from "./typed";

export const SCROLLBACK = 2000; // lines of history that are asked for

const TOLD = 8 << 10; // bytes; the daemon sends some times as much ahead

export interface RawListener {
  told(event: RawEvent): void;
  printed(data: Uint8Array): void;
}

export class RawDoor {
  readonly typed = new Typed();

  private readonly link: Link;
  private readonly name = randomId(8); // under which what is typed here is numbered
  private beat: number | null = null; // the one that was heard last
  private over = false;
  private drawn = 0; // bytes, since the daemon was told

  constructor(session: string, listener: RawListener) {
    const path = `ws/raw/${encodeURIComponent(session)}`;
    const query = () => ({ scrollback: String(SCROLLBACK), typing: this.name, drawn: "true" });
    this.link = new Link(path, query, {
      text: (message) => {
        const event = JSON.parse(message) as RawEvent;
        this.link.isWell();
        // The daemon closes the socket after these; reconnecting would undo them.
        if (event.event === "ended" || event.event === "detached") this.finish();
        if (event.event === "error" && event.error.code === "SESSION_NOT_FOUND") this.finish();
        if (!this.hear(event)) listener.told(event);
      },
      bytes: (data) => listener.printed(data),
      closed: () => this.typed.went(),
      silent: () => this.typed.silent(),
    });
  }

  get state() {
    return this.link.state;
  }

  get silent() {
    return this.link.silent;
  }

  get deaf() {
    return this.link.deaf;
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Type, now or as soon as there is a connection. False: it is dropped. */
  type(data: Uint8Array<ArrayBuffer>): boolean {
    const kept = this.typed.add(data);
    if (this.link.silent.value) this.typed.silent();
    else this.send();
    return kept;
  }

  /** The person knows what was dropped, and goes on. */
  goOn(): void {
    this.typed.goOn();
    this.send();
  }

  resize(rows: number, cols: number): boolean {
    return this.link.send(JSON.stringify({ resize: [rows, cols] }));
  }

  /** So many bytes more were drawn, or dropped. */
  drew(bytes: number): void {
    this.drawn += bytes;
    if (this.drawn < TOLD) return;
    this.link.send(JSON.stringify({ drawn: this.drawn }));
    this.drawn = 0;
  }

  refresh(scrollback: number): boolean {
    return this.link.send(JSON.stringify({ refresh: true, scrollback }));
  }

  close(): void {
    this.typed.close();
    this.link.close();
  }

  /** Take what is about the connection and what was typed; false if it is about something else. */
  private hear(event: RawEvent): boolean {
    if (event.event === "beat") {
      this.beat = event.beat;
      if (event.got !== undefined) this.link.got(event.got);
    } else if (event.event === "typing") {
      this.beat = null;
      this.link.expect(event.silence_ms);
      this.typed.typing(event);
      this.send();
    } else if (event.event === "taken") this.typed.taken(event.number);
    else if (event.event === "dropped") this.typed.dropped(event.number, event.why);
    else return false;
    return true;
  }

  private send(): void {
    const message = this.typed.message();
    if (!message) return;
    const heard = this.beat === null ? {} : { beat: this.beat };
    this.link.send(JSON.stringify({ ...message, ...heard }));
  }

  private finish(): void {
    this.over = true;
    this.typed.close();
    queueMicrotask(() => this.link.close());
  }
}

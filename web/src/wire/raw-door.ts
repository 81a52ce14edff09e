// The bytes of one session over /ws/raw: what its terminal prints, and the keys of the person.

import { Link } from "./link";
import type { RawEvent } from "./shapes";
import { TypeAhead } from "./type-ahead";

export const SCROLLBACK = 2000; // lines of history that are asked for

export interface RawListener {
  told(event: RawEvent): void;
  printed(data: Uint8Array): void;
  /** What was typed while there was no connection is lost. */
  unsent(): void;
}

export class RawDoor {
  private readonly link: Link;
  private readonly ahead: TypeAhead;
  private over = false;

  constructor(session: string, listener: RawListener) {
    this.ahead = new TypeAhead(() => listener.unsent());
    const path = `ws/raw/${encodeURIComponent(session)}`;
    this.link = new Link(path, () => ({ scrollback: String(SCROLLBACK) }), {
      opened: () => this.ahead.take().forEach((data) => this.link.send(data)),
      text: (message) => {
        const event = JSON.parse(message) as RawEvent;
        this.link.isWell();
        // The daemon closes the socket after these; reconnecting would undo them.
        if (event.event === "ended" || event.event === "detached") this.finish();
        if (event.event === "error" && event.error.code === "SESSION_NOT_FOUND") this.finish();
        listener.told(event);
      },
      bytes: (data) => listener.printed(data),
    });
  }

  get state() {
    return this.link.state;
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Type, now or as soon as there is a connection. */
  type(data: Uint8Array<ArrayBuffer>): boolean {
    return this.link.send(data) || this.ahead.keep(data);
  }

  resize(rows: number, cols: number): boolean {
    return this.link.send(JSON.stringify({ resize: [rows, cols] }));
  }

  refresh(scrollback: number): boolean {
    return this.link.send(JSON.stringify({ refresh: true, scrollback }));
  }

  close(): void {
    this.ahead.forget();
    this.link.close();
  }

  private finish(): void {
    this.over = true;
    this.ahead.forget();
    queueMicrotask(() => this.link.close());
  }
}

// The bytes of one session over /ws/raw: what its terminal prints, and the keys of the person.

import { Link } from "./link";
import type { RawEvent } from "./shapes";

export const SCROLLBACK = 2000; // lines of history that are asked for

export interface RawListener {
  told(event: RawEvent): void;
  printed(data: Uint8Array): void;
}

export class RawDoor {
  private readonly link: Link;
  private over = false;

  constructor(session: string, listener: RawListener) {
    const path = `ws/raw/${encodeURIComponent(session)}`;
    this.link = new Link(path, () => ({ scrollback: String(SCROLLBACK) }), {
      text: (message) => {
        const event = JSON.parse(message) as RawEvent;
        this.link.isWell();
        // The daemon closes after these; to come back by itself would undo them.
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

  type(data: Uint8Array<ArrayBuffer>): boolean {
    return this.link.send(data);
  }

  resize(rows: number, cols: number): boolean {
    return this.link.send(JSON.stringify({ resize: [rows, cols] }));
  }

  refresh(scrollback: number): boolean {
    return this.link.send(JSON.stringify({ refresh: true, scrollback }));
  }

  close(): void {
    this.link.close();
  }

  private finish(): void {
    this.over = true;
    queueMicrotask(() => this.link.close());
  }
}

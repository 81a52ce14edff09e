// Requests and events over /ws/json. Rule: a subscription outlives the socket. After a reconnect it
// is made again, and its first event is again a sync.

import { signal } from "@preact/signals";

import { Refused } from "./api";
import { Link } from "./link";
import type { Event, WireError } from "./shapes";

const PATIENCE = 15_000; // ms that a request waits for the socket to be open

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Subscription {
  session: string | null;
  params: Record<string, unknown>;
  heard: (event: Event) => void;
  number: number | null; // on the socket of now
}

interface Message {
  connected?: boolean;
  version?: string;
  silence_ms?: number;
  id?: number;
  result?: unknown;
  error?: WireError;
  subscription?: number;
  event?: string;
}

export class JsonDoor {
  /** The daemon's version; it changes when the daemon is upgraded while the page is open. */
  readonly version = signal<string | null>(null);

  private readonly link: Link;
  private readonly waiting = new Map<number, Waiting>();
  private readonly subscriptions = new Set<Subscription>();
  private readonly byNumber = new Map<number, Subscription>();
  private early: Message[] = []; // events that overtook the answer to their subscribe
  private arrivals: (() => void)[] = [];
  private ready = false;
  private lastId = 0;

  constructor() {
    this.link = new Link("ws/json", () => ({ beats: "true" }), {
      text: (message) => this.receive(JSON.parse(message) as Message),
      closed: () => this.drop(),
    });
  }

  get state() {
    return this.link.state;
  }

  get silent() {
    return this.link.silent;
  }

  /** Ask for an operation. Raises Refused with the daemon's reason. */
  async request(
    method: string,
    session: string | null = null,
    params: Record<string, unknown> = {},
  ): Promise<unknown> {
    if (!this.ready) await this.arrival();
    const id = ++this.lastId;
    const message = { id, method, ...(session === null ? {} : { session }), params };
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      if (!this.link.send(JSON.stringify(message))) this.fail(id, lost());
    });
  }

  /** Get events until the returned function is called. */
  subscribe(
    session: string | null,
    events: string[],
    heard: (event: Event) => void,
    options: Record<string, unknown> = {},
  ): () => void {
    const one: Subscription = { session, params: { events, ...options }, heard, number: null };
    this.subscriptions.add(one);
    if (this.ready) void this.begin(one);
    return () => {
      this.subscriptions.delete(one);
      if (one.number === null) return;
      this.byNumber.delete(one.number);
      if (this.ready) {
        this.request("unsubscribe", null, { subscription: one.number }).catch(() => undefined);
      }
    };
  }

  close(): void {
    this.subscriptions.clear();
    this.link.close();
    this.drop();
  }

  private async begin(one: Subscription): Promise<void> {
    try {
      const answer = await this.request("subscribe", one.session, one.params);
      const number = (answer as { subscription: number }).subscription;
      if (!this.subscriptions.has(one)) {
        await this.request("unsubscribe", null, { subscription: number });
        return;
      }
      one.number = number;
      this.byNumber.set(number, one);
      const early = this.early.filter((message) => message.subscription === number);
      this.early = this.early.filter((message) => message.subscription !== number);
      early.forEach((message) => this.receive(message));
    } catch {
      // Either the session is gone, which the list shows, or the socket, which the link reports.
    }
  }

  private receive(message: Message): void {
    if (message.connected) {
      if (message.silence_ms) this.link.expect(message.silence_ms);
      return this.arrive(message.version ?? null);
    }
    if (message.event !== undefined && message.subscription !== undefined) {
      const one = this.byNumber.get(message.subscription);
      if (one) one.heard(message as unknown as Event);
      else if (this.early.length < 100) this.early.push(message);
      return;
    }
    if (message.id === undefined) return;
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) waiting?.reject(new Refused(message.error.code, message.error.message));
    else waiting?.resolve(message.result);
  }

  private arrive(version: string | null): void {
    this.link.isWell();
    this.ready = true;
    this.version.value = version;
    this.subscriptions.forEach((one) => void this.begin(one));
    this.arrivals.splice(0).forEach((resume) => resume());
  }

  private arrival(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(lost()), PATIENCE);
      this.arrivals.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private drop(): void {
    this.ready = false;
    this.early = [];
    this.byNumber.clear();
    this.subscriptions.forEach((one) => (one.number = null));
    [...this.waiting.keys()].forEach((id) => this.fail(id, lost()));
  }

  private fail(id: number, error: Error): void {
    this.waiting.get(id)?.reject(error);
    this.waiting.delete(id);
  }
}

function lost(): Error {
  return new Refused("DISCONNECTED", "cannot reach the daemon; trying again");
}

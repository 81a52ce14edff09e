// Requests over HTTP, and the key that stands for the person at this page.
// Rule: the token itself is never stored; it is exchanged once for a key.

import { computed, signal } from "@preact/signals";

import { keep, kept } from "../kept";
import { address } from "./place";
import type { WireError } from "./shapes";

/** The key, or null: then the login is shown. */
export const key = signal<string | null>(kept("key"));

/** Why the login is shown, if the person did not log out. */
export const farewell = signal<string | null>(null);

export class Refused extends Error {
  constructor(
    readonly code: string | number,
    message: string,
    readonly status = 0,
  ) {
    super(message);
  }
}

/** What logs in: a code is good once (`nacre web`), a token until it expires (`nacre share`). */
export type Proof = { token: string } | { code: string };

export async function logIn(proof: Proof): Promise<void> {
  const answer = await post("api/login", proof, null);
  farewell.value = null;
  setKey((answer as { key: string }).key);
}

export function logOut(reason: string | null = null): void {
  farewell.value = reason;
  setKey(null);
  if (reason === null) keep("seen", null); // who comes next has seen nothing
}

/** What this person may do, and whether only with some sessions. */
export const allowed = signal<{ scope: "observe" | "drive" | "admin"; limited: boolean }>({
  scope: "admin",
  limited: false,
});

/** Whether they can watch and do nothing else. */
export const onlyWatches = computed(() => allowed.value.scope === "observe");

/** The person chose to look and nothing else, in this browser: no key and no click types. */
export const looking = signal(kept("looking") === "yes");

export const onlyLooks = computed(() => onlyWatches.value || looking.value);

export function toggleLooking(): void {
  looking.value = !looking.value;
  keep("looking", looking.value ? "yes" : null);
}

/** Get a ticket, which opens one socket: a browser cannot send headers with a WebSocket. */
export async function ticket(signal?: AbortSignal): Promise<string> {
  type Answer = { ticket: string } & typeof allowed.value;
  const { ticket, scope, limited } = (await call("api/ticket", {}, signal)) as Answer;
  const before = allowed.peek();
  if (before.scope !== scope || before.limited !== limited) allowed.value = { scope, limited };
  return ticket;
}

/** POST as the person who is logged in. If the key is no longer valid, show the login. */
export async function call(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const sent = key.value;
  try {
    return await post(path, body, sent, signal);
  } catch (error) {
    if (error instanceof Refused && error.status === 401 && key.value === sent) {
      logOut("Your login is no longer valid. Log in again.");
    }
    throw error;
  }
}

async function post(
  path: string,
  body: unknown,
  bearer: string | null,
  signal?: AbortSignal,
): Promise<unknown> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  const options: RequestInit = { method: "POST", headers, body: JSON.stringify(body) };
  if (signal) options.signal = signal;
  const response = await fetch(address(path), options);
  if (response.ok) return (await response.json()) as unknown; // cut short by the signal, it throws
  const answer = (await response.json().catch(() => null)) as { error?: WireError } | null;
  const error = answer?.error;
  const message = error?.message ?? `the daemon answered ${response.status}`;
  throw new Refused(error?.code ?? response.status, message, response.status);
}

function setKey(value: string | null): void {
  key.value = value;
  keep("key", value);
}

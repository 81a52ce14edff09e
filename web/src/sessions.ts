// The list of sessions, as the daemon reports it. Rule: only the daemon's events change it.

import { computed, signal } from "@preact/signals";

import type { Event, SessionSummary } from "./wire/shapes";

export interface Listed extends SessionSummary {
  activeAt: number; // by this machine's clock, in ms
  gone?: true; // off the list: killed or dismissed
}

/** By session id; null until the daemon has sent the list. */
export const sessions = signal<ReadonlyMap<string, Listed> | null>(null);

/** The session that left the list last: a person who has it open keeps its last screen. */
const departed = signal<Listed | null>(null);

export const live = computed(() => ordered((one) => !isOver(one)));
export const over = computed(() => ordered(isOver));

export function isOver(one: SessionSummary): boolean {
  return one.state === "exited" || one.state === "lost";
}

/** Find by name, id or port, as every door of the daemon does. */
export function find(reference: string): Listed | undefined {
  const all = sessions.value;
  if (!all) return undefined;
  const byId = all.get(reference);
  if (byId) return byId;
  const isMeant = (one: Listed) => one.name === reference || String(one.port) === reference;
  const last = departed.value;
  return (
    [...all.values()].find(isMeant) ??
    (last && (last.session_id === reference || isMeant(last)) ? last : undefined)
  );
}

/** What a link to a session uses: its name, or its id when it has left the list. */
export function referenceTo(one: Listed): string {
  return one.gone ? one.session_id : one.name;
}

export function hear(event: Event): void {
  switch (event.event) {
    case "sync":
      if ("sessions" in event) {
        sessions.value = new Map(event.sessions.map((one) => [one.session_id, listed(one)]));
      }
      break;
    case "session":
      if (event.change === "removed") remove(event.session_id);
      else if (event.details) put(listed(event.details));
      break;
    case "state": {
      const { state, asks, last_line, title, cwd, question, last_command, line } = event;
      const told = { state, asks, last_line, title, cwd, question, last_command, line };
      patch(event.session_id, { ...told, activeAt: Date.now() });
      break;
    }
    case "control":
      patch(event.session_id, { driver: event.driver });
      break;
    case "changed":
      patch(event.session_id, { activeAt: Date.now() });
      break;
    default:
  }
}

function ordered(wanted: (one: Listed) => boolean): Listed[] {
  return [...(sessions.value?.values() ?? [])].filter(wanted).sort((a, b) => b.created - a.created);
}

function listed(one: SessionSummary): Listed {
  const activeAt = Date.now() - one.idle_seconds * 1000;
  // In whole seconds: what is known better stays.
  const known = sessions.peek()?.get(one.session_id)?.activeAt ?? 0;
  return { ...one, activeAt: Math.abs(activeAt - known) < 1500 ? known : activeAt };
}

function put(one: Listed): void {
  sessions.value = new Map(sessions.value ?? []).set(one.session_id, one);
}

function patch(id: string, fields: Partial<Listed>): void {
  const before = sessions.value?.get(id);
  if (before) put({ ...before, ...fields });
}

function remove(id: string): void {
  const left = new Map(sessions.value ?? []);
  const one = left.get(id);
  if (one) departed.value = { ...one, state: "exited", driver: null, gone: true };
  left.delete(id);
  sessions.value = left;
}

// The connection to the daemon while somebody is logged in, and the requests over it.

import { batch, effect, signal } from "@preact/signals";

import * as approvals from "./approvals";
import * as hosts from "./hosts";
import { go, route } from "./route";
import * as sessions from "./sessions";
import { complain } from "./toasts";
import { allowed, key, onlyWatches } from "./wire/api";
import { JsonDoor } from "./wire/json-door";
import type { Approval, Event } from "./wire/shapes";

/** Null while nobody is logged in. */
export const door = signal<JsonDoor | null>(null);

/** What people must know about the daemon itself. */
export const warnings = signal<readonly string[]>([]);

effect(() => {
  const before = door.peek();
  if (key.value !== null && before === null) connect();
  else if (key.value === null && before !== null) {
    before.close();
    door.value = null;
    warn([]);
    sessions.sessions.value = null;
    approvals.approvals.value = [];
    hosts.hosts.value = [];
  }
});

function connect(): void {
  const opened = new JsonDoor();
  door.value = opened;
  opened.subscribe(null, ["sessions", "states", "control", "daemon", "approvals", "hosts"], hear);
}

/** In one step, so that an open session stays open when it is renamed. */
function hear(event: Event): void {
  batch(() => {
    const at = route.value;
    if (event.event === "session" && event.change === "renamed" && event.details) {
      if ("session" in at && sessions.find(at.session)?.session_id === event.session_id) {
        go({ ...at, session: event.details.name }, { replace: true });
      }
    }
    if (event.event === "daemon") warn(event.warnings);
    sessions.hear(event);
    approvals.hear(event);
    hosts.hear(event);
    if (event.event === "sync") void catchUp();
  });
}

const LASTS = 1500; // ms; a keeper that was killed is replaced long before
let lasting = 0;

/** Show what lasts; the screen is not moved for a moment's sake. */
function warn(told: readonly string[]): void {
  clearTimeout(lasting);
  if (told.length) lasting = window.setTimeout(() => (warnings.value = told), LASTS);
  else warnings.value = [];
}

/** A sync has no questions: ask for those that are open. */
async function catchUp(): Promise<void> {
  if (onlyWatches.value || allowed.value.limited) return; // they are asked nothing
  const found = await ask<{ approvals: Approval[] }>("list_approvals", null);
  if (found) approvals.approvals.value = found.approvals;
}

/** Ask for an operation. If it fails, show the error and return null. */
export async function ask<Result>(
  method: string,
  session: string | null,
  params: Record<string, unknown> = {},
): Promise<Result | null> {
  try {
    return (await door.value?.request(method, session, params)) as Result;
  } catch (error) {
    complain(error);
    return null;
  }
}

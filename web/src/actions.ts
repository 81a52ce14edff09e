// What a person can do with a session. Rule: the page asks before it does what cannot be undone.

import { ask, door } from "./daemon";
import { confirm, naming } from "./dialogs";
import { go, route } from "./route";
import { isOver, type Listed } from "./sessions";
import { note } from "./toasts";

export interface NewSession {
  name: string;
  command: string;
  cwd: string;
}

/** Create a session and return its name. Raises Refused with the daemon's reason. */
export async function create(wanted: NewSession): Promise<string> {
  const given = Object.entries(wanted).filter(([, value]) => value.trim());
  // keep: a session that a person opened stays when the page is closed.
  const params = { ...Object.fromEntries(given), keep: true };
  const made = await door.value?.request("create_session", null, params);
  return (made as { session: string }).session;
}

export async function kill(one: Listed): Promise<void> {
  const sure = await confirm({
    title: `Kill ${one.name}?`,
    text: "This kills the program and everything it started. Its recording stays for a while.",
    action: "Kill",
    dangerous: true,
  });
  if (sure && (await ask("manage_session", one.session_id, { action: "kill" }))) leave(one);
}

export async function restart(one: Listed): Promise<void> {
  const sure =
    isOver(one) ||
    (await confirm({
      title: `Restart ${one.name}?`,
      text: "This kills what runs in it and starts its command again, under the same name.",
      action: "Restart",
      dangerous: true,
    }));
  if (sure) await ask("restart_session", one.session_id);
}

export async function restore(one: Listed): Promise<void> {
  if (await ask("restore_sessions", null, { session: one.session_id })) {
    note(`${one.name} was restarted.`);
  }
}

export async function dismiss(one: Listed): Promise<void> {
  if (await ask("dismiss_session", one.session_id)) leave(one);
}

export function rename(one: Listed): void {
  naming(one.name, async (name) => {
    const params = { action: "rename", new_name: name };
    if (name !== one.name) await door.value?.request("manage_session", one.session_id, params);
  });
}

/** Kill a running session, dismiss an ended one. */
export function end(one: Listed): Promise<void> {
  return isOver(one) ? dismiss(one) : kill(one);
}

function leave(one: Listed): void {
  const at = route.value;
  if ("session" in at && (at.session === one.name || at.session === one.session_id)) {
    go({ view: "list" }, { replace: true });
  }
}

// Tells the person who looks elsewhere: in the tab's title, on its icon, and, if they want that, by
// notifications that name the session and what became of it, and lead there.
// Rule: a notification says something new. A session that asks, or ends, is told once.

import { computed, effect, signal } from "@preact/signals";

import { keep, kept } from "../kept";
import { go, route } from "../route";
import { find, referenceTo, sessions, type Listed } from "../sessions";
import { note } from "../toasts";
import { outcomeOf, type Attention } from "./attention";
import { attention, calls, visible } from "./calls";
import { badge } from "./icon";

const REST = 3000; // ms that a command's end waits: an agent may go on at once

/** Whether the browser can show notifications at all. */
export const canNotify = "Notification" in window;

const wanted = signal(kept("notify") === "yes");
const granted = signal(canNotify && Notification.permission === "granted");

export const notifies = computed(() => wanted.value && granted.value);

/** Turn notifications on or off; the browser asks the first time. */
export async function toggleNotifications(): Promise<void> {
  if (!notifies.value) {
    granted.value = (await Notification.requestPermission()) === "granted";
    if (!granted.value) {
      return note("The browser does not allow notifications here. Its settings for this page do.");
    }
  }
  wanted.value = !notifies.value;
  keep("notify", wanted.value ? "yes" : null);
}

effect(() => {
  const at = route.value;
  const shown = "session" in at ? (find(at.session)?.name ?? at.session) : null;
  const count = calls.value.length;
  document.title = `${count ? `(${count}) ` : ""}${shown ? `${shown} · ` : ""}nacre`;
});

effect(() => badge(calls.value.length));

let before: ReadonlyMap<string, Attention> | null = null; // null: what was there first is not new
const resting = new Map<string, number>(); // timers

effect(() => {
  const now = attention.value;
  const last = before;
  before = sessions.value === null ? null : now;
  if (last === null || !notifies.value) return;
  for (const [id, what] of now) {
    if (last.get(id) === what) continue;
    clearTimeout(resting.get(id));
    resting.delete(id);
    if (what === "blocked") tell(id);
    else if (what === "done") resting.set(id, window.setTimeout(() => tell(id), REST));
  }
});

function tell(id: string): void {
  resting.delete(id);
  const session = sessions.value?.get(id);
  const what = attention.value.get(id);
  if (!session || !what || !notifies.value || visible.value) return;
  const call = calls.value.find((one) => one.key === id);
  const outcome = outcomeOf(session, what, call?.approvals[0]?.command ?? null);
  if (outcome) show(session, outcome.title, outcome.text);
}

function show(session: Listed, title: string, body: string): void {
  // The tag: pages in other tabs tell the same, and the browser shows it once.
  const shown = new Notification(title, { body, tag: `nacre-${session.session_id}` });
  shown.onclick = () => {
    window.focus();
    go({ view: "session", session: referenceTo(session) });
    shown.close();
  };
}

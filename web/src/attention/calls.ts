// Who calls for the person, in one queue: what the policy asks, and what programs ask.

import { computed, effect, signal } from "@preact/signals";

import { approvals } from "../approvals";
import { route } from "../route";
import { find, sessions, type Listed } from "../sessions";
import { allowed, onlyWatches } from "../wire/api";
import type { Approval } from "../wire/shapes";
import { attentionOf, type Attention } from "./attention";
import { look, seen, turnTo } from "./seen";

const SETTLED = 1500; // ms without output or input, after which a question is nobody else's

/** Somebody has to act: a question of the policy, or what a program asks in its session. */
export interface Call {
  key: string;
  session: Listed | null; // null: one that is about to be created
  approvals: Approval[];
}

/** Whether the page is before the person's eyes. */
export const visible = signal(!document.hidden);
document.addEventListener("visibilitychange", () => (visible.value = !document.hidden));

// Counts up when a session has been quiet for long enough to be looked at again.
const settled = signal(0);
let next = 0;

export const attention = computed<ReadonlyMap<string, Attention>>(() => {
  void settled.value;
  const asked = new Set(approvals.value.map((one) => one.session_id));
  const now = Date.now();
  const found = new Map<string, Attention>();
  for (const one of sessions.value?.values() ?? []) {
    const known = seen.value.get(one.session_id);
    found.set(
      one.session_id,
      attentionOf(one, {
        approval: asked.has(one.session_id),
        settled: now - one.activeAt >= SETTLED,
        finished: known?.finished ?? null,
        question: known?.question ?? null,
      }),
    );
  }
  return found;
});

effect(() => {
  void settled.value; // another one may be next
  clearTimeout(next);
  const asks = [...(sessions.value?.values() ?? [])].filter((one) => one.state === "needs_input");
  const due = asks.map((one) => one.activeAt + SETTLED - Date.now()).filter((left) => left > 0);
  if (due.length) next = window.setTimeout(() => (settled.value += 1), Math.min(...due) + 20);
});

// Who has a session open before them sees what is new in it.
let opened: string | null = null;
effect(() => {
  const at = route.value;
  const open = at.view === "session" ? find(at.session) : undefined;
  if (open && open.session_id !== opened) turnTo(open.session_id);
  opened = open?.session_id ?? null;
  if (open && visible.value) look(open);
});

/** The queue, oldest question first. Who may only watch is asked nothing. */
export const calls = computed<Call[]>(() => {
  if (onlyWatches.value || sessions.value === null) return [];
  const found: Call[] = [];
  for (const [id, what] of attention.value) {
    const session = sessions.value.get(id);
    if (what !== "blocked" || !session) continue;
    const asked = approvals.value.filter((one) => one.session_id === id);
    found.push({ key: id, session, approvals: asked });
  }
  found.sort((one, other) => since(one) - since(other));
  // Of a session that is gone nothing can be answered any more.
  const rest = approvals.value.filter((one) => one.session_id === null);
  if (allowed.value.limited) return found;
  return [...found, ...rest.map((one) => ({ key: one.id, session: null, approvals: [one] }))];
});

function since({ session, approvals }: Call): number {
  return approvals.length ? Math.min(...approvals.map((one) => one.asked * 1000)) : (session?.activeAt ?? 0);
}

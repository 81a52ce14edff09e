// The list is one stop of the Tab key; within it the arrows move. Rule: the stop is the row that had
// the focus last, else the open session, else the first row.

import { computed, signal } from "@preact/signals";

import { calls } from "../attention/calls";
import { route } from "../route";
import { find, live, over, sessions } from "../sessions";

export const focusedRow = signal<string | null>(null);

export const tabStop = computed<string | null>(() => {
  const last = focusedRow.value;
  if (last !== null && sessions.value?.has(last)) return last;
  const at = route.value;
  const open = "session" in at ? find(at.session) : undefined;
  if (open && !open.gone) return open.session_id;
  const first = calls.value.find((one) => one.session)?.session ?? live.value[0] ?? over.value[0];
  return first?.session_id ?? null;
});

// What people are asked: by the policy, whether commands of agents may run; by programs, for a
// password or a yes.
// Rule: only the daemon's answers and events change the list.

import { signal } from "@preact/signals";

import type { Approval, ApprovalAnswer, Event } from "./wire/shapes";

export const approvals = signal<Approval[]>([]);

export function hear(event: Event): void {
  if (event.event !== "approval") return;
  const others = approvals.value.filter((one) => one.id !== event.approval.id);
  const open = event.status === "asked" || event.status === "left";
  approvals.value = open ? [...others, event.approval] : others;
}

export const ANSWERS: Record<ApprovalAnswer, { text: string; title: string }> = {
  once: { text: "Allow once", title: "Let it run now" },
  session: { text: "In this session", title: "The same command, in this session and folder" },
  save: { text: "Always", title: "Add a rule for exactly this line to policy.toml" },
  deny: { text: "Deny", title: "The agent is told that you said no" },
  yes: { text: "Yes", title: "Type yes for the program that asks" },
  no: { text: "No", title: "Type no for the program that asks" },
  text: { text: "Type it", title: "Type it for the program: nobody else gets it" },
};

// Controls, formats, tags, private and unassigned characters, blanks that are no space; and what is
// drawn as nothing though it is a letter or a mark.
const UNSEEN = /(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Characters that nobody sees, or that change the order of others, as escapes. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => {
    const code = (found.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

// Which dialog is open, and its answer.

import { signal } from "@preact/signals";

export interface Question {
  title: string;
  text: string;
  action: string;
  dangerous: boolean;
}

export type Dialog =
  | { kind: "new" }
  | { kind: "help" }
  | { kind: "upstreams" }
  | { kind: "confirm"; question: Question; answer: (sure: boolean) => void }
  | { kind: "name"; before: string; give: (name: string) => Promise<void> };

export const dialog = signal<Dialog | null>(null);

export function confirm(question: Question): Promise<boolean> {
  return new Promise((answer) => (dialog.value = { kind: "confirm", question, answer }));
}

/** Ask for another name. If `give` raises, the dialog shows the reason and stays open. */
export function naming(before: string, give: (name: string) => Promise<void>): void {
  dialog.value = { kind: "name", before, give };
}

/** Close without an answer. */
export function closeDialog(): void {
  const closed = dialog.value;
  dialog.value = null;
  if (closed?.kind === "confirm") closed.answer(false);
}

// Short messages at the page's edge. They disappear by themselves; errors stay longer.

import { signal } from "@preact/signals";

export interface Toast {
  number: number;
  kind: "note" | "error";
  text: string;
  details: string[];
  about: string | null; // a later one about the same replaces it
}

const SHOWN = { note: 6000, error: 10_000 }; // ms
const MOST = 4;

export const toasts = signal<Toast[]>([]);

let last = 0;

export function note(text: string, details: string[] = [], about: string | null = null): void {
  show("note", text, details, about);
}

export function complain(error: unknown): void {
  show("error", error instanceof Error ? error.message : String(error), []);
}

export function dismiss(number: number): void {
  toasts.value = toasts.value.filter((one) => one.number !== number);
}

function show(
  kind: Toast["kind"],
  text: string,
  details: string[],
  about: string | null = null,
): void {
  if (toasts.value.some((one) => one.text === text)) return;
  const number = ++last;
  const others = toasts.value.filter((one) => about === null || one.about !== about);
  toasts.value = [...others.slice(1 - MOST), { number, kind, text, details, about }];
  setTimeout(() => dismiss(number), SHOWN[kind]);
}

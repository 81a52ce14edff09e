// Dark or light: as the system is set, or as the person chose.

import { computed, effect, signal } from "@preact/signals";

import { keep, kept } from "./kept";

export type Choice = "system" | "dark" | "light";

const system = matchMedia("(prefers-color-scheme: light)");
const systemIsLight = signal(system.matches);
system.addEventListener("change", () => (systemIsLight.value = system.matches));

export const choice = signal<Choice>(stored());

export const scheme = computed<"dark" | "light">(() => {
  if (choice.value !== "system") return choice.value;
  return systemIsLight.value ? "light" : "dark";
});

effect(() => {
  document.documentElement.dataset.scheme = scheme.value;
});

export function choose(next: Choice): void {
  choice.value = next;
  keep("scheme", next);
}

function stored(): Choice {
  const value = kept("scheme");
  return value === "dark" || value === "light" ? value : "system";
}

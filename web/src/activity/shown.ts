// Whether the column of commands is shown: the person's choice, else where there is room for it.

import { signal } from "@preact/signals";

import { keep, kept } from "../kept";
import { CRAMPED } from "../style/viewport";

const ROOMY = "(min-width: 1500px)";

export const activityShown = signal(startsShown());

function startsShown(): boolean {
  if (matchMedia(CRAMPED).matches) return false; // there it is a drawer, which nobody has opened
  const chosen = kept("activity");
  return chosen === null ? matchMedia(ROOMY).matches : chosen === "shown";
}

/** The person came by the keyboard: the list gets the focus once it is there. */
export const arrives = signal(false);

export function showActivity(shown: boolean): void {
  activityShown.value = shown;
  if (!matchMedia(CRAMPED).matches) keep("activity", shown ? "shown" : "hidden");
}

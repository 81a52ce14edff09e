// What a replay can be saved as: the recording itself, or a film that the daemon makes of it.

import { signal } from "@preact/signals";

import { complain, note } from "../toasts";
import { call, onlyWatches } from "../wire/api";
import type { Film } from "../wire/shapes";
import type { Action } from "./menu";

export function saving(session: string, name: string, text: string): Action[] {
  return [
    // An asciicast, which asciinema and many others play.
    { text: "Recording (.cast)", act: () => save(`${name}.cast`, text, "application/x-asciicast") },
    ...(onlyWatches.value ? [] : filming(session, name)),
  ];
}

/** The daemon works long for a film: not for who only watches. */
function filming(session: string, name: string): Action[] {
  return [
    { text: "Film (.gif)", act: () => film(session, name, "gif") },
    { text: "Film (.svg)", act: () => film(session, name, "svg") },
  ];
}

export const films = signal(0); // that are being made

async function film(session: string, name: string, format: "gif" | "svg"): Promise<void> {
  films.value += 1;
  try {
    const path = `api/sessions/${encodeURIComponent(session)}/film`;
    const made = (await call(path, { format })) as Film;
    const bytes = format === "gif" ? Uint8Array.from(atob(made.data), (one) => one.charCodeAt(0)) : made.data;
    save(`${name}.${format}`, bytes, format === "gif" ? "image/gif" : "image/svg+xml");
    if (made.omitted_frames) {
      note(`The film has ${made.frames} frames; ${made.omitted_frames} were left out evenly.`);
    }
  } catch (error) {
    complain(error);
  } finally {
    films.value -= 1;
  }
}

function save(name: string, content: BlobPart, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

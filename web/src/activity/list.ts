// The commands of one session, kept current by events. Rule: a sync asks for the list again; what is
// told meanwhile is put into it.

import { signal } from "@preact/signals";

import { ask, door } from "../daemon";
import { complain, note } from "../toasts";
import { MOST, withEntry, type Entry, type Listed } from "./entries";

export class ActivityList {
  readonly entries = signal<readonly Entry[] | null>(null); // null: not known yet
  readonly earlier = signal(false); // there were more
  private readonly stop: () => void;
  private told: Entry[] = []; // while the list is on its way

  constructor(readonly session: string) {
    this.stop =
      door.value?.subscribe(session, ["runs"], (event) => {
        if (event.event === "sync") void this.load();
        if (event.event !== "run" || !event.entry) return;
        this.told.push(event.entry);
        if (this.entries.value) this.entries.value = withEntry(this.entries.value, event.entry);
      }) ?? (() => undefined);
  }

  close(): void {
    this.stop();
  }

  private async load(): Promise<void> {
    this.told = [];
    const found = await activityOf(this.session);
    if (!found) return;
    this.entries.value = this.told.reduce(withEntry, found.entries ?? []);
    this.earlier.value = (found.earlier ?? false) || found.total > MOST;
  }
}

export function activityOf(session: string): Promise<Listed | null> {
  return ask<Listed>("list_activity", session, { limit: MOST });
}

const COPIED = 8 << 20; // characters of an output that is copied

export async function copyOutput(session: string, entry: Entry): Promise<void> {
  const params = { id: entry.id, max_chars: COPIED };
  type Output = { output: string; lines: number; omitted_lines?: number; incomplete?: boolean };
  const found = await ask<Output>("activity_output", session, params);
  if (!found) return;
  try {
    await navigator.clipboard.writeText(found.output);
  } catch {
    return complain("The browser does not let this page copy.");
  }
  const lines = `${found.lines} line${found.lines === 1 ? "" : "s"}`;
  if (found.omitted_lines) note(`Copied, without ${found.omitted_lines} of ${lines}: it is long.`);
  else if (found.incomplete) note("Copied what is left of it: the beginning is gone.");
  else note(found.output ? `Copied ${lines}.` : "It printed nothing.");
}

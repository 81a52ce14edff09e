// Who drives the open session. Rule: only the daemon knows. The page asks whether it is itself the
// driver, because events name people, not pages.

import { signal } from "@preact/signals";

import { ask, door } from "../daemon";
import { note } from "../toasts";
import { nameOf } from "../words";
import type { Control, Handover } from "../wire/shapes";

export class Lease {
  readonly driver = signal<string | null>(null);
  readonly yours = signal(false);
  /** Since when others wait to type, by this machine's clock in ms; null: nobody does. */
  readonly waiting = signal<number | null>(null);
  private asked = 0;

  constructor(private readonly session: string) {}

  async take(): Promise<boolean> {
    const now = await ask<Control>("control", this.session, { action: "take" });
    if (now) this.set(now);
    return now?.yours ?? false;
  }

  async give(): Promise<void> {
    const drove = this.yours.value;
    const now = await ask<Control>("control", this.session, { action: "give" });
    if (!now) return;
    // The answer and the event may come in any order; do not show the same note twice.
    if (drove && now.handover) tell(now.handover, { mine: true });
    this.set(now);
  }

  /** Handle an event that says who drives now, and what the last driver did. */
  async changed(driver: string | null, handover: Handover | null): Promise<void> {
    const before = this.driver.value;
    const mine = this.yours.value;
    if (before !== null && driver !== before && handover) tell(handover, { mine });
    if (driver === null) return this.set({ driver, yours: false });
    this.driver.value = driver;
    const turn = ++this.asked;
    try {
      const now = (await door.value?.request("control", this.session)) as Control | undefined;
      if (now && turn === this.asked) this.set(now);
    } catch {
      // The next sync has it.
    }
  }

  /** Clocks differ: what was just heard of begins now. */
  waits(since: number | null): void {
    if (since === null) this.waiting.value = null;
    else this.waiting.value ??= Math.min(Date.now(), since * 1000);
  }

  private set(now: Pick<Control, "driver" | "yours" | "waiting_since">): void {
    this.asked += 1;
    this.waits(now.waiting_since ?? null);
    this.driver.value = now.driver;
    this.yours.value = now.yours;
  }
}

function tell(handover: Handover, { mine }: { mine: boolean }): void {
  const time = `${Math.max(1, Math.round(handover.seconds))} s`;
  const commands = handover.commands.map(({ command, exit_code }) => {
    const code = exit_code === null ? "" : ` (exit ${exit_code})`;
    return `${command || "a command"}${code}`;
  });
  const count = commands.length === 1 ? "1 command" : `${commands.length} commands`;
  const what = commands.length ? count : handover.keys ? "keys, no commands" : "nothing typed";
  const who = mine ? "You" : nameOf(handover.driver);
  note(`${who} drove for ${time}: ${what}. The agent is told with its next call.`, commands);
}

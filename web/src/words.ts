// How states, times and folders are shown to people.

import { signal } from "@preact/signals";

import { endOf, type Attention } from "./attention/attention";
import type { SessionSummary } from "./wire/shapes";

export { endOf };

export type Tone = "calm" | "busy" | "asks" | "new" | "bad" | "over";

const ASKS: Record<string, { text: string; tone: Tone }> = {
  password: { text: "asks for a password", tone: "asks" },
  confirm: { text: "asks yes or no", tone: "asks" },
  line: { text: "waits for a line", tone: "asks" },
  key: { text: "waits for a key", tone: "asks" },
  pager: { text: "in a pager", tone: "busy" },
  editor: { text: "in an editor", tone: "busy" },
  multiplexer: { text: "in a terminal multiplexer", tone: "busy" },
  repl: { text: "at a REPL’s prompt", tone: "calm" },
};

export function stateOf(
  one: SessionSummary & { gone?: true },
  attention: Attention = "idle",
): { text: string; tone: Tone } {
  if (one.gone && one.running) return { text: "killed", tone: "over" };
  if (attention === "done" && one.state === "prompt") return doneOf(one);
  // The policy asks, not the program: that one may stand at its prompt meanwhile.
  if (attention === "blocked" && ["prompt", "running"].includes(one.state)) return { text: "asks for approval", tone: "asks" };
  switch (one.state) {
    case "prompt":
      return { text: "at its prompt", tone: "calm" };
    case "running":
      return { text: "running", tone: "busy" };
    case "needs_input": {
      const { text, tone } = ASKS[one.asks ?? ""] ?? { text: "waits for input", tone: "asks" };
      return { text, tone: tone === "asks" && attention !== "blocked" ? "calm" : tone };
    }
    case "lost":
      // Of a lost host nothing can be restored until it is back; its notice says which.
      return { text: one.notice?.startsWith(`host ${one.host} is lost`) ? "lost with its host" : "lost, can be restored", tone: "bad" };
    default:
      return { text: endOf(one), tone: one.exit_code === 0 ? "over" : "bad" };
  }
}

/** How a command ended that nobody has looked at yet. */
function doneOf({ last_command: last }: SessionSummary): { text: string; tone: Tone } {
  if (!last?.exit_code) return { text: "done", tone: "new" };
  return { text: `failed with ${last.exit_code}`, tone: "bad" };
}

/** How the driver is named. People on the web page have no name, so the page stands for it. */
export function nameOf(driver: string): string {
  return driver === "web page" ? "Someone on another page" : driver;
}

/** The current time in ms, updated every 10 seconds for texts that say how long ago something was. */
export const now = signal(Date.now());
setInterval(() => document.hidden || (now.value = Date.now()), 10_000);

export function ago(then: number): string {
  const seconds = Math.max(0, (now.value - then) / 1000);
  if (seconds < 20) return "now";
  if (seconds < 60) return `${Math.floor(seconds / 10) * 10} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** What a program calls itself while it runs, else the folder. */
export function titleOf(one: SessionSummary): string {
  const over = one.state === "exited" || one.state === "lost";
  return one.title && one.title !== one.name && !over ? one.title : shortPath(one.cwd);
}

/** The end of a path, its most useful part. */
export function shortPath(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// What a session wants of the person: one function, and every place shows its answer: the list, the
// page's title and icon, notifications, the wall.
// Rule 1: it is told by the daemon's facts (state, question, the last command's end), never guessed
// from the text of a screen.
// Rule 2: it reads no clock and no storage; who calls it says what was seen.

import { visible } from "../approvals";
import type { LastCommand, StateName } from "../wire/shapes";

/** It waits for an answer; something ended and nobody has looked; it runs; nothing is new. */
export type Attention = "blocked" | "done" | "working" | "idle";

export interface Facts {
  state: StateName;
  asks: string | null;
  question?: string | null;
  driver?: string | null;
  last_command?: LastCommand | null;
  ended?: number | null;
}

/** What this browser knows of a session beside the daemon's facts. */
export interface Known {
  approval: boolean; // the policy or a program has called for a person
  settled: boolean; // it has asked for a moment: what an agent answers at once calls nobody
  finished: number | null; // the end of what was seen last
  question: string | null; // what it asked when it was seen last
}

// These are asked of a person, until they are answered. A line or a key may be for an agent: it is
// enough to have seen that.
const FOR_PEOPLE = ["password", "confirm"];
const FOR_ANYBODY = ["line", "key"];

export function attentionOf(facts: Facts, known: Known): Attention {
  if (known.approval) return "blocked";
  if (isAsked(facts, known)) return "blocked";
  if (facts.state === "running") return "working";
  const finished = finishedOf(facts);
  return finished !== null && finished !== known.finished ? "done" : "idle";
}

function isAsked({ state, asks, question, driver }: Facts, known: Known): boolean {
  // Who drives has it before them.
  if (state !== "needs_input" || driver || !known.settled) return false;
  if (FOR_PEOPLE.includes(asks ?? "")) return true;
  return FOR_ANYBODY.includes(asks ?? "") && Boolean(question) && question !== known.question;
}

/** When what ended last did so, by the daemon's clock: the program, or a command in its shell. */
export function finishedOf({ state, ended, last_command }: Facts): number | null {
  if (state === "exited" || state === "lost") return ended ?? 0;
  return last_command?.ended ?? null;
}

export interface Outcome {
  title: string;
  text: string;
}

export const LONG = 10; // seconds that a command must have run for its end to be worth a word

/** What a notification says; null: that is worth none. */
export function outcomeOf(
  session: Facts & { name: string; exit_code: number | null; signal: string | null },
  attention: Attention,
  asked: string | null = null,
): Outcome | null {
  const { name, state, last_command: last } = session;
  if (attention === "blocked") {
    const what = asked ?? session.question ?? "";
    return { title: `${name} ${wants(session, asked)}`, text: visible(what) };
  }
  if (attention !== "done") return null;
  if (state === "lost") return { title: `${name} was lost`, text: "It can be restored." };
  if (state === "exited") return { title: `${name} ended`, text: endOf(session) };
  if (!last || last.ended === null || last.ended - last.started < LONG) return null;
  const good = last.exit_code === 0;
  const how = good ? "is done" : `failed with ${last.exit_code ?? "no exit code"}`;
  return { title: `${name}: ${firstLine(last.command) || "a command"} ${how}`, text: "" };
}

function wants({ asks }: Facts, asked: string | null): string {
  if (asks === "password") return "asks for a password";
  if (asks === "confirm") return "asks yes or no";
  return asked === null ? "waits for an answer" : "needs your approval";
}

export function endOf(one: { exit_code: number | null; signal: string | null }): string {
  if (one.signal) return `ended by ${one.signal}`;
  return one.exit_code === null ? "ended" : `exited with ${one.exit_code}`;
}

/** One line, short enough for a title. */
export function firstLine(text: string, most = 60): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

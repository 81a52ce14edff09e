// Above the terminal: which session this is, what it is doing, who drives, and the actions.

import type { OpenSession } from "../session/open";
import * as actions from "../actions";
import { activityShown, showActivity } from "../activity/shown";
import { attention } from "../attention/calls";
import { readAloud, toggleReadAloud } from "../terminal/emulator";
import { go } from "../route";
import { isOver, referenceTo, type Listed } from "../sessions";
import { ago, nameOf, stateOf, titleOf } from "../words";
import { isMac } from "../session/keyboard";
import { looking, onlyLooks, onlyWatches, toggleLooking } from "../wire/api";
import { Captured } from "./captured";
import { Icon } from "./icons";
import { Menu, type Action } from "./menu";

interface Props {
  session: Listed;
  open: OpenSession | null;
  search: () => void;
}

export function Bar({ session, open, search }: Props) {
  const state = stateOf(session, attention.value.get(session.session_id));
  return (
    <header class="bar">
      <a class="bar-back icon-only" href="#/" aria-label="All sessions">
        <Icon name="back" />
      </a>
      <div class="bar-what">
        <h1>{session.name}</h1>
        <p>
          <span class="chip" data-tone={state.tone} data-state={session.state}>
            <span class="dot" aria-hidden="true" />
            {state.text}
          </span>
          <span class="bar-where" title={session.cwd}>
            {titleOf(session)}
          </span>
        </p>
      </div>
      {open && <Captured open={open} place="bar" />}
      {open && !isOver(session) && onlyLooks.value && (
        <span
          class="driver-who"
          title={
            onlyWatches.value
              ? "With this link you can watch, and do nothing else."
              : "Your keys reach nothing. The menu lets you type again."
          }
        >
          {onlyWatches.value ? "You are watching" : "Only looking"}
        </span>
      )}
      {open && !isOver(session) && !onlyLooks.value && <Driver open={open} viewers={session.viewers ?? 0} />}
      {open && !isOver(session) && !onlyLooks.value && (
        <button
          class="bar-fit icon-only"
          title="Fit: resize the session to this window"
          aria-label="Fit the session to this window"
          onClick={() => open.viewport.fit()}
        >
          <Icon name="fit" />
        </button>
      )}
      {open && (
        <button
          class="icon-only bar-activity"
          title="Activity: what ran, and who ran it (Ctrl+Shift+Y)"
          aria-label="Activity"
          aria-pressed={activityShown.value}
          onClick={() => showActivity(!activityShown.value)}
        >
          <Icon name="list" />
        </button>
      )}
      <Menu label="More" actions={menu(session, open, search)} />
    </header>
  );
}

function Driver({ open, viewers }: { open: OpenSession; viewers: number }) {
  const { driver, yours, waiting } = open.lease;
  const others = viewers > 1 ? `, ${viewers} watch` : "";
  const who = yours.value
    ? "You drive"
    : driver.value
      ? `${nameOf(driver.value)} drives`
      : "Shared";
  const what = yours.value
    ? "Input from agents waits until you give the session back. It then gets its size back, too."
    : driver.value
      ? "Take over to type."
      : "You and agents can both type.";
  return (
    <div
      class="driver"
      data-yours={yours.value || undefined}
      data-held={driver.value !== null || undefined}
    >
      <span class="driver-who" title={what} role="status">
        <span class="driver-name">{who}</span>
        <span class="driver-others">{others}</span>
        {yours.value && waiting.value !== null && (
          <span class="driver-waited">An agent waits{since(waiting.value)}</span>
        )}
      </span>
      <button
        class={yours.value ? "pearly" : "primary"}
        title={`${yours.value ? "Let agents type again" : "Only you can type then"} (Ctrl+Shift+X)`}
        onClick={() => void open.toggleControl()}
      >
        {yours.value ? "Give back" : "Take over"}
      </button>
    </div>
  );
}

/** How long, once that is worth a word. */
function since(then: number): string {
  const text = ago(then);
  return text === "now" ? "" : `, ${text}`;
}

function menu(session: Listed, open: OpenSession | null, search: () => void): (Action | null)[] {
  const copy = isMac ? "⌘C" : "Ctrl+Shift+C";
  const paste = isMac ? "⌘V" : "Ctrl+Shift+V";
  const over = isOver(session) || onlyLooks.value; // nothing is typed, and no size changes
  const ofTerminal: (Action | null)[] = open
    ? [
        { text: "Copy the selection", keys: copy, act: () => open.copy() },
        ...(over ? [] : [{ text: "Paste", keys: paste, act: () => open.paste() }]),
        { text: "Find", keys: isMac ? "⌘F" : "Ctrl+Shift+F", act: search },
        ...(over ? [] : [{ text: "Fit to this window", act: () => open.viewport.fit() }]),
        { text: "Larger text", act: () => open.viewport.enlarge(1) },
        { text: "Smaller text", act: () => open.viewport.enlarge(-1) },
        { text: "Full screen", act: fullScreen },
        { text: readAloudText(), act: () => toggleReadAloud() },
        ...(onlyWatches.value || isOver(session) ? [] : [{ text: lookingText(), act: () => only(open) }]),
      ]
    : [];
  return [
    ...ofTerminal,
    ...(open ? [null] : []),
    { text: "Replay", act: () => go({ view: "replay", session: referenceTo(session) }) },
    // The daemon refuses these to who only watches.
    ...(session.gone || onlyWatches.value ? [] : ofSession(session)),
  ];
}

function ofSession(session: Listed): (Action | null)[] {
  const over = isOver(session);
  return [
    { text: "Rename…", act: () => actions.rename(session) },
    session.state === "lost"
      ? { text: "Restore", act: () => actions.restore(session) }
      : { text: over ? "Start again" : "Restart…", act: () => actions.restart(session) },
    null,
    over
      ? { text: "Dismiss", act: () => actions.dismiss(session) }
      : { text: "Kill…", dangerous: true, act: () => actions.kill(session) },
  ];
}

function lookingText(): string {
  return looking.value ? "Type again" : "I’m only looking";
}

/** Who only looks drives nothing, either. */
function only(open: OpenSession): void {
  if (!looking.value && open.lease.yours.value) void open.lease.give();
  toggleLooking();
}

function readAloudText(): string {
  return `Turn ${readAloud.value ? "off" : "on"} screen reader support`;
}

/** In full screen a browser can pass on even its own keys: Ctrl+W, Ctrl+N, Ctrl+T. */
async function fullScreen(): Promise<void> {
  if (document.fullscreenElement) return document.exitFullscreen();
  await document.documentElement.requestFullscreen();
  const { keyboard } = navigator as Navigator & { keyboard?: { lock(): Promise<void> } };
  await keyboard?.lock().catch(() => undefined);
}

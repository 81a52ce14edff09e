// The column of commands: who ran what, how it ended, when. In a session a click scrolls there, in a
// replay it goes to that moment. Where there is no room beside the screen, it is a drawer.

import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { lasting, outcomeOf, whenOf, whoOf, type Entry } from "../activity/entries";
import { copyOutput } from "../activity/list";
import { arrives, showActivity } from "../activity/shown";
import { CRAMPED } from "../style/viewport";
import { now } from "../words";
import { Icon } from "./icons";
import { useMedia } from "./media";

interface Props {
  title: string;
  session: string; // its id
  entries: readonly Entry[] | null;
  earlier: boolean;
  current?: string | undefined; // the id of the command at the replay's moment
  toNewest?: boolean; // stay at the end while commands are added
  go: (entry: Entry) => void;
  leave: () => void; // the focus goes back to where the person came from
}

export function ActivityColumn({ title, session, entries, earlier, current, toNewest, go, leave }: Props) {
  const narrow = useMedia(CRAMPED);
  const place = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const stop = useSignal<string | null>(null); // the entry that Tab reaches
  const known = entries ?? [];
  const tabbed = known.some((one) => one.id === stop.value) ? stop.value : known.at(-1)?.id;
  const count = known.length;

  useEffect(() => {
    if (toNewest && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [toNewest, count]);
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  useEffect(() => {
    if (entries === null || !arrives.value) return;
    arrives.value = false;
    const to = ".act-go[tabindex='0']";
    (place.current?.querySelector<HTMLElement>(to) ?? place.current?.querySelector("button"))?.focus();
  }, [entries === null, arrives.value]);
  useEffect(() => {
    if (narrow) place.current?.querySelector<HTMLElement>("button")?.focus();
  }, [narrow]);

  function close(): void {
    showActivity(false);
    leave();
  }

  /** In a drawer Tab stays: what is behind it cannot be reached. */
  function around(event: TargetedKeyboardEvent<HTMLElement>): void {
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("button:not([tabindex='-1'])")];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    stops.at((at + (event.shiftKey ? -1 : 1)) % stops.length)?.focus();
  }

  function chosen(entry: Entry): void {
    if (narrow) showActivity(false);
    go(entry);
  }

  function keys(event: TargetedKeyboardEvent<HTMLElement>): void {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>(".act-go")];
    const at = items.findIndex((one) => one.parentElement?.contains(document.activeElement));
    const beside = items[at]?.parentElement?.querySelector<HTMLElement>(".act-copy");
    const move: Record<string, HTMLElement | null | undefined> = {
      ArrowUp: items[at - 1],
      ArrowDown: items[at + 1],
      Home: items[0],
      End: items.at(-1),
      ArrowRight: beside,
      ArrowLeft: items[at],
    };
    if (event.key === "Escape") close();
    else if (event.key === "Tab" && narrow) around(event);
    else if (at >= 0 && event.key in move) move[event.key]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <>
      {narrow && <div class="drawer-back" onClick={close} />}
      <section
        ref={place}
        class="activity"
        aria-label={title}
        role={narrow ? "dialog" : "region"}
        aria-modal={narrow || undefined}
        onKeyDown={keys}
      >
        <header>
          <h2>{title}</h2>
          <button class="icon-only" aria-label={`Close ${title}`} title="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {entries !== null && !count && (
          <p class="activity-none">
            No command yet. Runs of agents are listed here, and what is typed at a shell that marks
            its commands.
          </p>
        )}
        {count > 0 && (
          <ol ref={list}>
            {earlier && <li class="activity-note">Earlier ones are no longer listed.</li>}
            {known.map((entry) => (
              <Act
                key={entry.id}
                entry={entry}
                current={entry.id === current}
                tabbed={entry.id === tabbed}
                focused={() => (stop.value = entry.id)}
                go={() => chosen(entry)}
                copy={() => void copyOutput(session, entry)}
              />
            ))}
          </ol>
        )}
      </section>
    </>
  );
}

interface ActProps {
  entry: Entry;
  current: boolean;
  tabbed: boolean;
  focused: () => void;
  go: () => void;
  copy: () => void;
}

function Act({ entry, current, tabbed, focused, go, copy }: ActProps) {
  const outcome = outcomeOf(entry);
  const who = whoOf(entry);
  const took = entry.running ? now.value - entry.started * 1000 : entry.duration_ms;
  const command = entry.command || "(not known)";
  return (
    <li class="act" data-tone={outcome.tone} data-state={entry.running ? "running" : undefined}>
      <button
        class="act-go"
        tabIndex={tabbed ? 0 : -1}
        aria-current={current ? "true" : undefined}
        title={command}
        onFocus={focused}
        onClick={go}
      >
        <span class="act-command">{command}</span>
        <span class="act-facts">
          <span class="act-outcome">
            <span class="dot" aria-hidden="true" />
            {outcome.text}
          </span>
          {took !== undefined && !(entry.running && took < 1000) && <span>{lasting(Math.max(0, took))}</span>}
          <time dateTime={new Date(entry.started * 1000).toISOString()}>{whenOf(entry.started)}</time>
        </span>
        <span class="act-who">
          <Icon name={entry.person ? "person" : "plug"} />
          <span>{who}</span>
        </span>
      </button>
      <button
        class="act-copy icon-only"
        tabIndex={tabbed ? 0 : -1}
        aria-label={`Copy the output of ${command}`}
        title="Copy its output"
        onFocus={focused}
        onClick={copy}
      >
        <Icon name="copy" />
      </button>
    </li>
  );
}

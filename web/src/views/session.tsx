// An open session: its bar, its screen, and notes about them.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { find, sessions } from "../sessions";
import { go } from "../route";
import { rowOf, type Entry } from "../activity/entries";
import { ActivityList } from "../activity/list";
import { activityShown, arrives, showActivity } from "../activity/shown";
import { land, landAt, landing } from "../search/landing";
import { OpenSession } from "../session/open";
import { NARROW } from "../style/viewport";
import { onlyLooks } from "../wire/api";
import { loadFont } from "../terminal/font";
import { ActivityColumn } from "./activity";
import { Bar } from "./bar";
import { Captured } from "./captured";
import { Ended } from "./ended";
import { Missing } from "./empty";
import { Lament } from "./lament";
import { SearchBar } from "./search-bar";
import { Screen } from "./screen";
import { focusFilter, focusList } from "./sidebar";
import { TouchKeys } from "./touch-keys";
import { TypeLine } from "./type-line";

/** The open session; tests and people at the console reach it through window.nacre. */
export const current = signal<OpenSession | null>(null);

const touch = matchMedia("(pointer: coarse)");

export function SessionView({ reference }: { reference: string }) {
  const session = find(reference);
  const searching = useSignal(false);
  if (!session) {
    return sessions.value === null ? (
      <main class="main" aria-busy="true" />
    ) : (
      <Missing name={reference} />
    );
  }
  const open = current.value?.id === session.session_id ? current.value : null;
  return (
    <main class="main session" aria-label={`Session ${session.name}`}>
      <Bar session={session} open={open} search={() => (searching.value = true)} />
      {open && <Captured open={open} place="strip" />}
      {open && searching.value && <SearchBar open={open} close={() => (searching.value = false)} />}
      <div class="beside">
        <Stage
          key={session.session_id}
          id={session.session_id}
          search={() => (searching.value = true)}
        />
        {activityShown.value && open && <Commands key={session.session_id} open={open} />}
      </div>
      {open && <Lament open={open} />}
      {open?.ending.value && <Ended session={session} open={open} ending={open.ending.value} />}
      {open && !open.ending.value && touch.matches && !onlyLooks.value && (
        <>
          <TypeLine open={open} />
          <TouchKeys open={open} />
        </>
      )}
    </main>
  );
}

function Stage({ id, search }: { id: string; search: () => void }) {
  const stage = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const open = current.value?.id === id ? current.value : null;

  useEffect(() => {
    let opened: OpenSession | null = null;
    let wanted = true;
    void loadFont().then(() => {
      if (!wanted || !stage.current || !host.current) return;
      opened = new OpenSession(id, stage.current, host.current, {
        search,
        list: toList,
        activity: toActivity,
      });
      current.value = opened;
    });
    return () => {
      wanted = false;
      opened?.close();
      if (current.value === opened) current.value = null;
    };
  }, []);

  useEffect(() => {
    const hit = landing.value;
    if (!open || hit?.session_id !== id) return;
    landing.value = null;
    return land(open, hit);
  }, [open]);

  useGuard(open);
  return <Screen stage={stage} host={host} open={open} />;
}

function Commands({ open }: { open: OpenSession }) {
  const list = useMemo(() => new ActivityList(open.id), [open.id]);
  const landed = useRef<() => void>(() => undefined);
  useEffect(
    () => () => {
      list.close();
      landed.current();
    },
    [list],
  );
  function scrollTo(entry: Entry): void {
    landed.current();
    const replay = () => go({ view: "replay", session: open.id, at: entry.started });
    const { line, command } = entry;
    if (line === undefined || !command) return replay();
    const placeIn = (rows: string[]) => {
      const expected = open.rowOf(line);
      return expected < 0 ? -1 : rowOf(rows, expected, command);
    };
    landed.current = landAt(open, placeIn, replay);
  }
  return (
    <ActivityColumn
      title="Activity"
      session={open.id}
      entries={list.entries.value}
      earlier={list.earlier.value}
      toNewest
      go={scrollTo}
      leave={() => open.emulator.terminal.focus()}
    />
  );
}

/** Show the commands and go there, or away from them. */
function toActivity(): void {
  showActivity(!activityShown.value);
  arrives.value = activityShown.value;
}

/** Ctrl+W closes the tab, but is also a shell's key: a person who drives is asked first. */
function useGuard(open: OpenSession | null): void {
  const drives = open?.lease.yours.value ?? false;
  useEffect(() => {
    if (!drives) return;
    const guard = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", guard);
    return () => removeEventListener("beforeunload", guard);
  }, [drives]);
}

/** Go from the terminal to the list; on a phone the list is a separate page. */
function toList(): void {
  if (matchMedia(NARROW).matches) go({ view: "list" });
  setTimeout(() => (document.querySelector(".rows a") ? focusList() : focusFilter()));
}

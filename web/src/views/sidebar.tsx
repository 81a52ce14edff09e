// The list of sessions, live; keys: arrows, Enter, Delete, "/" to filter.

import { computed, signal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";

import { calls } from "../attention/calls";
import { dialog } from "../dialogs";
import { door } from "../daemon";
import { hosts, isOfLostHost } from "../hosts";
import { hrefOf, route } from "../route";
import { live, over, sessions, type Listed } from "../sessions";
import { allowed, onlyWatches } from "../wire/api";
import { NARROW } from "../style/viewport";
import { HostGroups } from "./host-groups";
import { Icon, Pearl } from "./icons";
import { useMedia } from "./media";
import { Needs } from "./needs";
import { Row } from "./row";
import { SidebarFoot } from "./sidebar-foot";
import { Toaster } from "./toaster";

const filter = signal("");

const matching = (all: Listed[]) => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((one) => {
    const text = [one.name, one.command, one.cwd, one.title, one.last_line, one.host, ...(one.tags ?? [])]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
};
// Who calls for the person stands above the list.
const calling = computed(() => new Set(calls.value.map((one) => one.key)));
const shownLive = computed(() => {
  return matching(live.value).filter((one) => !calling.value.has(one.session_id));
});
const shownOver = computed(() => matching(over.value));

export function focusFilter(): void {
  document.querySelector<HTMLInputElement>("#filter")?.focus();
}

export function focusList(): void {
  const nav = document.querySelector(".rows");
  const row = nav?.querySelector<HTMLElement>("[aria-current]") ?? nav?.querySelector("a");
  if (row) (row as HTMLElement).focus();
  else focusFilter();
}

export function Sidebar() {
  const narrow = useMedia(NARROW);
  // On a phone the list is a page of its own.
  const alone = narrow && route.value.view === "list" && Boolean(sessions.value?.size);
  const Place = alone ? "main" : "aside";
  return (
    <Place class="sidebar" aria-label="Sessions">
      {alone && <h1 class="unseen">Sessions</h1>}
      <header>
        <a class="brand" href="#/" aria-label="nacre, all sessions">
          <Pearl size={22} />
          <span>nacre</span>
        </a>
        {!onlyWatches.value && !allowed.value.limited && (
          <button class="quiet" onClick={() => (dialog.value = { kind: "new" })}>
            <Icon name="plus" /> New
          </button>
        )}
      </header>
      <Filter />
      <nav class="rows" aria-label="Sessions" onKeyDown={walk}>
        <Needs />
        <div class="rows-scroll">
          <List />
        </div>
      </nav>
      {!narrow && <Toaster />}
      <SidebarFoot />
    </Place>
  );
}

function Filter() {
  return (
    <div class="filter" role="search">
      <Icon name="search" />
      <input
        id="filter"
        type="search"
        placeholder="Filter"
        aria-label="Filter sessions"
        value={filter.value}
        onInput={(event) => (filter.value = event.currentTarget.value)}
        onKeyDown={filterKeys}
      />
      <kbd aria-hidden="true">/</kbd>
      <a class="filter-search" href={hrefOf({ view: "search", text: filter.value.trim() })}>
        {filter.value.trim() ? `Search all output for “${filter.value.trim()}”` : "Search all output"}
        <kbd aria-hidden="true">s</kbd>
      </a>
    </div>
  );
}

function List() {
  if (sessions.value === null) {
    const lost = door.value?.state.value !== "open";
    return <p class="rows-note">{lost ? "Connecting…" : "Loading…"}</p>;
  }
  if (!sessions.value.size) return <p class="rows-note none">No sessions yet.</p>;
  if (!shownLive.value.length && !shownOver.value.length) {
    if (!filter.value) return null;
    return <p class="rows-note">Nothing matches “{filter.value}”.</p>;
  }
  const clustered = hosts.value.length > 1;
  const lost = clustered ? shownOver.value.filter((one) => isOfLostHost(hosts.value, one)) : [];
  const ended = shownOver.value.filter((one) => !lost.includes(one));
  return (
    <>
      {clustered ? <HostGroups sessions={[...shownLive.value, ...lost]} whole={!filter.value} /> : rows(shownLive.value)}
      {ended.length > 0 && <h2>Ended</h2>}
      {rows(ended)}
    </>
  );
}

function rows(all: Listed[]) {
  return all.map((one) => <Row key={one.session_id} session={one} />);
}

function filterKeys(event: TargetedKeyboardEvent<HTMLInputElement>): void {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    const first = document.querySelector<HTMLElement>(".rows a");
    if (event.key === "Enter") first?.click();
    else first?.focus();
    event.preventDefault();
  } else if (event.key === "Escape") {
    if (filter.value) filter.value = "";
    else event.currentTarget.blur();
  }
}

function walk(event: TargetedKeyboardEvent<HTMLElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("a.row")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.length - 1,
  };
  const next = steps[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  if (next < 0) focusFilter();
  else rows[Math.min(next, rows.length - 1)]?.focus();
}

// The wall: live pictures of all running sessions, while none is open. A click opens one, with the
// list beside it; two to four can be looked at side by side.

import { computed, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { attention, calls, visible } from "../attention/calls";
import { firstLine } from "../attention/attention";
import { door } from "../daemon";
import { hrefOf } from "../route";
import { live, type Listed } from "../sessions";
import { Icon } from "../views/icons";
import { ago, nameOf, stateOf } from "../words";
import { Screenful } from "./screenful";
import { Thumbnails } from "./thumbnails";

const MOST = 4; // side by side

/** The ids of those that were chosen to be side by side. */
const chosen = signal<readonly string[]>([]);
const adding = signal(false); // another one is being chosen: all are shown
/** Who asks comes first, in the order of "Needs you". */
const inOrder = computed(() => {
  const asking = calls.value.flatMap(({ session }) => session ?? []).filter((one) => live.value.includes(one));
  return [...asking, ...live.value.filter((one) => !asking.includes(one))];
});
const beside = computed(() => live.value.filter((one) => chosen.value.includes(one.session_id)));

export function Wall() {
  const thumbnails = useMemo(() => new Thumbnails(), []);
  const open = door.value;
  const watched = visible.value;
  useEffect(() => {
    if (!open || !watched) return; // who looks elsewhere costs the daemon nothing
    return open.subscribe(null, ["thumbnails"], (event) => thumbnails.hear(event));
  }, [open, watched]);
  const several = beside.value.length > 1;
  const few = several && !adding.value;
  const shown = few ? beside.value : inOrder.value;
  return (
    <main class="main wall" data-few={few ? shown.length : undefined}>
      <header class="wall-head">
        <h1>{few ? "Side by side" : `Running (${shown.length})`}</h1>
        {beside.value.length > 0 && (
          <p class="hint">
            {few ? null : `Choose ${several ? "another" : "up to three more"} to see them side by side.`}{" "}
            {several && beside.value.length < MOST && (
              <button onClick={() => (adding.value = few)}>{few ? "Add another" : "Back"}</button>
            )}{" "}
            <button onClick={showAll}>Show all</button>
          </p>
        )}
      </header>
      <ul class="tiles">
        {shown.map((one) => (
          <Tile key={one.session_id} session={one} thumbnails={thumbnails} />
        ))}
      </ul>
    </main>
  );
}

function Tile({ session, thumbnails }: { session: Listed; thumbnails: Thumbnails }) {
  const wants = attention.value.get(session.session_id) ?? "idle";
  const state = stateOf(session, wants);
  const picked = chosen.value.includes(session.session_id);
  const last = session.last_command;
  const driver = session.driver;
  return (
    <li class="tile" data-attention={wants} data-tone={state.tone} data-state={session.state}>
      <div class="tile-head">
        <span class="dot" aria-hidden="true" />
        <a class="tile-name" href={hrefOf({ view: "session", session: session.name })}>
          {session.name}
        </a>
        <span class="tile-state">{state.text}</span>
        {driver && (
          <span class="tile-driver">
            <Icon name="person" /> {nameOf(driver)}
          </span>
        )}
        <button
          class="icon-only"
          aria-pressed={picked}
          aria-label={`${session.name} side by side`}
          title={picked ? "Take it out" : "Side by side"}
          disabled={!picked && chosen.value.length >= MOST}
          onClick={() => toggle(session.session_id)}
        >
          <Icon name="beside" />
        </button>
      </div>
      <Screenful thumbnail={thumbnails.of(session.session_id)} />
      <p class="tile-last">
        {last ? (
          <>
            <code>{firstLine(last.command) || "a command"}</code>
            <span data-bad={Boolean(last.exit_code) || undefined}>
              {last.ended === null ? "runs" : `exit ${last.exit_code ?? "?"}`}
            </span>
          </>
        ) : (
          <code>{firstLine(session.command)}</code>
        )}
        <span class="tile-time">{ago(session.activeAt)}</span>
      </p>
    </li>
  );
}

function toggle(id: string): void {
  const others = chosen.value.filter((one) => one !== id);
  chosen.value = others.length < chosen.value.length ? others : [...others, id];
  adding.value = false;
}

function showAll(): void {
  chosen.value = [];
  adding.value = false;
}

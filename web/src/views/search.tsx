// Search over all sessions and their past: a box, and what was found by session.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { whenOf } from "../activity/entries";
import { go } from "../route";
import { find } from "../sessions";
import { grouped, parts, summary, type Found, type Group, type Hit } from "../search/found";
import { hrefOfHit, landing, opensTerminal, replayOf } from "../search/landing";
import { NARROW } from "../style/viewport";
import { call } from "../wire/api";
import { stateOf } from "../words";
import { Icon } from "./icons";
import { useMedia } from "./media";

const PAUSE = 250; // ms after the last key until it is searched
const HITS = 100;
const SPANS: [string, string][] = [
  ["", "Any time"],
  ["-3600", "Last hour"],
  ["-86400", "Last day"],
];

interface Asked {
  text: string;
  regex: boolean;
  since: string;
}

type State = { found: Found; asked: Asked } | { problem: string } | null;

export function SearchView({ text }: { text: string }) {
  const field = useRef<HTMLInputElement>(null);
  const regex = useSignal(false);
  const since = useSignal("");
  const state = useSignal<State>(null);
  const busy = useSignal(false);
  const asking = { text, regex: regex.value, since: since.value };

  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (!asking.text.trim()) {
      state.value = null;
      return;
    }
    let wanted = true;
    const timer = setTimeout(() => {
      busy.value = true;
      void ask(asking, 0).then((answer) => {
        if (!wanted) return;
        state.value = answer;
        busy.value = false;
      });
    }, PAUSE);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [text, regex.value, since.value]);

  return (
    <main class="main search" aria-label="Search all output">
      <header class="bar">
        <a class="bar-back icon-only" href="#/" aria-label="All sessions">
          <Icon name="back" />
        </a>
        <h1 class="unseen">Search all output</h1>
        <div class="search-field" role="search" aria-label="All output">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            placeholder="Search what all sessions showed"
            aria-label="Search all output"
            value={text}
            onInput={(event) =>
              go({ view: "search", text: event.currentTarget.value }, { replace: true })
            }
          />
        </div>
        <label class="search-regex">
          <input
            type="checkbox"
            checked={regex.value}
            onChange={(event) => (regex.value = event.currentTarget.checked)}
          />
          Regex
        </label>
        <select
          aria-label="When"
          value={since.value}
          onChange={(event) => (since.value = event.currentTarget.value)}
        >
          {SPANS.map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      </header>
      <Results state={state} busy={busy.value} />
    </main>
  );
}

async function ask({ text, regex, since }: Asked, offset: number): Promise<State> {
  const request = { text: text.trim(), regex, limit: HITS, offset, max_chars: 2 << 20 };
  try {
    const found = await call("api/search", since ? { ...request, since: Number(since) } : request);
    return { found: found as Found, asked: { text, regex, since } };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function Results({ state, busy }: { state: Signal<State>; busy: boolean }) {
  const shown = state.value;
  if (shown === null) {
    return (
      <div class="search-results">
        <p class="search-note" role="status">
          {busy
            ? "Searching…"
            : "Everything is searched that a screen showed: running and ended sessions, full-screen programs, and what was drawn over."}
        </p>
      </div>
    );
  }
  if ("problem" in shown) {
    return (
      <div class="search-results">
        <p class="search-note" role="status" data-bad>
          {shown.problem}
        </p>
      </div>
    );
  }
  const { found, asked } = shown;
  const hits = found.hits ?? [];
  const more = async () => {
    const next = await ask(asked, found.next_offset ?? 0);
    if (next === null || "problem" in next) return;
    const later = { ...next.found, hits: [...hits, ...(next.found.hits ?? [])] };
    state.value = { found: later, asked };
  };
  return (
    <div class="search-results" aria-busy={busy}>
      <p class="search-note" role="status">
        {busy ? "Searching…" : summary(found)}
        {found.searched_since !== undefined && (
          <span>
            {" "}
            Output before {whenOf(found.searched_since)} is not searched yet.{" "}
            <button class="link" onClick={() => void ask(asked, 0).then((again) => (state.value = again))}>
              Go on
            </button>
          </span>
        )}
        {(found.not_searched ?? []).map((one) => (
          <span key={one.session_id}>
            {" "}
            {one.session} is not searched: {one.reason}.
          </span>
        ))}
      </p>
      {grouped(hits).map((group) => (
        <SessionHits key={group.id} group={group} />
      ))}
      {found.next_offset !== undefined && (
        <p class="search-more">
          <button class="quiet" onClick={() => void more()}>
            Older hits
          </button>
        </p>
      )}
    </div>
  );
}

function SessionHits({ group }: { group: Group }) {
  const session = find(group.id);
  const state = session ? stateOf(session) : null;
  return (
    <section class="found" aria-label={`Hits in ${group.name}`}>
      <h2>
        <span>{group.name}</span>
        <span class="found-state" data-tone={state?.tone ?? "over"}>
          {state?.text ?? "no longer listed"}
        </span>
      </h2>
      <ul>
        {group.hits.map((hit) => (
          <HitLine key={`${hit.generation} ${hit.line ?? hit.row} ${hit.start}`} hit={hit} />
        ))}
      </ul>
    </section>
  );
}

function HitLine({ hit }: { hit: Hit }) {
  const [before, matched, after] = parts(hit, useMedia(NARROW) ? 14 : 60);
  return (
    <li class="hit">
      <a
        class="hit-open"
        href={hrefOfHit(hit)}
        onClick={() => (landing.value = opensTerminal(hit) ? hit : null)}
      >
        <span class="hit-about">
          <time dateTime={new Date(hit.time * 1000).toISOString()}>{whenOf(hit.time)}</time>
          {hit.line === undefined && <span class="hit-kind">full screen</span>}
          {(hit.versions ?? 1) > 1 && <span class="hit-kind">drawn {hit.versions} times</span>}
        </span>
        <span class="hit-lines">
          {(hit.before ?? []).map((line, at) => (
            <span key={at} class="hit-around">
              {line}
            </span>
          ))}
          <span class="hit-text">
            {before}
            <mark>{matched}</mark>
            {after}
          </span>
          {(hit.after ?? []).map((line, at) => (
            <span key={at} class="hit-around">
              {line}
            </span>
          ))}
        </span>
      </a>
      {opensTerminal(hit) && (
        <a class="hit-replay quiet" href={replayOf(hit)} title="Show this moment in the replay">
          Replay
        </a>
      )}
    </li>
  );
}


// Finds text in a recording: what it ever showed, full-screen programs too. The daemon searches, for
// the page has only the screen of one moment.

import { useSignal } from "@preact/signals";
import type { SearchAddon } from "@xterm/addon-search";
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { Player } from "../cast/player";
import type { Recording } from "../cast/recording";
import { countOf, momentsOf, nearest, type Moments } from "../cast/finding";
import { call } from "../wire/api";
import type { Found } from "../search/found";
import { clock } from "../words";
import { Icon } from "./icons";
import { marks } from "./search-bar";

const PAUSE = 250; // ms without a key until it is sought
const MOST = 1000; // moments

interface Props {
  session: string;
  player: Player;
  recording: Recording;
  search: SearchAddon; // marks the text on the screen of that moment
  close: () => void;
}

export function ReplaySearch({ session, player, recording, search, close }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const found = useSignal<Moments | null>(null);
  const at = useSignal(0);
  const problem = useSignal<string | null>(null);
  const asking = useRef<{ timer: number; stop: AbortController } | null>(null);

  // At once: the next key is meant for it.
  useLayoutEffect(() => {
    field.current?.focus();
    return () => {
      cancel();
      search.clearDecorations();
    };
  }, []);

  function cancel(): void {
    if (asking.current) clearTimeout(asking.current.timer);
    asking.current?.stop.abort();
    asking.current = null;
  }

  function typed(): void {
    cancel();
    found.value = problem.value = null;
    search.clearDecorations();
    const text = field.current?.value ?? "";
    if (!text) return;
    const stop = new AbortController();
    asking.current = { timer: window.setTimeout(() => void seek(text, stop.signal), PAUSE), stop };
  }

  async function seek(text: string, stop: AbortSignal): Promise<void> {
    const body = { text, session, context: 0, limit: MOST, max_chars: 4 << 20 };
    try {
      const answer = (await call("api/search", body, stop)) as Found;
      if (stop.aborted) return;
      found.value = momentsOf(answer, recording);
      at.value = nearest(found.value.times, player.time.value);
      show();
    } catch (error) {
      if (!stop.aborted) problem.value = String((error as Error).message);
    }
  }

  function show(): void {
    const time = found.value?.times[at.value];
    if (time === undefined) return;
    player.pause();
    void player.shows(time).then(() => {
      search.findNext(field.current?.value ?? "", { incremental: true, decorations: marks() });
    });
  }

  function step(direction: 1 | -1): void {
    const count = found.value?.times.length ?? 0;
    if (!count) return;
    at.value = (at.value + direction + count) % count;
    show();
  }

  function keys(event: TargetedKeyboardEvent<HTMLInputElement>): void {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  }

  const none = found.value?.times.length === 0;
  return (
    <div class="search-bar" role="search" aria-label="Find">
      <input
        ref={field}
        type="search"
        placeholder="Find in the recording"
        aria-label="Find in the recording"
        aria-invalid={none}
        onInput={typed}
        onKeyDown={keys}
      />
      <span class="search-count" role="status" data-none={none || problem.value !== null || undefined}>
        {problem.value ?? (found.value && counted(found.value, at.value, player))}
      </span>
      <button class="icon-only" aria-label="Earlier" title="Earlier (Shift+Enter)" onClick={() => step(-1)}>
        <Icon name="up" />
      </button>
      <button class="icon-only" aria-label="Later" title="Later (Enter)" onClick={() => step(1)}>
        <Icon name="down" />
      </button>
      <button class="icon-only" aria-label="Close the search" onClick={close}>
        <Icon name="close" />
      </button>
    </div>
  );
}

function counted(moments: Moments, at: number, player: Player): string {
  const time = moments.times[at];
  const count = countOf(moments, at);
  return time === undefined ? count : `${count} · ${clock(player.clock.value.toShown(time))}`;
}

// From a hit to its place in an open terminal. What is no longer there is shown by the replay.

import { signal } from "@preact/signals";

import { go, hrefOf } from "../route";
import { isOver, find } from "../sessions";
import type { OpenSession } from "../session/open";
import { placeOf, type Hit } from "./found";

const PATIENCE = 1500; // ms until the scrollback must be there

/** The hit that the session which is being opened is to show. */
export const landing = signal<Hit | null>(null);

/** Where a click leads: the terminal, if the line may still be there, or the replay. */
export function opensTerminal(hit: Hit): boolean {
  const session = find(hit.session_id);
  return hit.line !== undefined && session !== undefined && !isOver(session);
}

export function hrefOfHit(hit: Hit): string {
  if (opensTerminal(hit)) return hrefOf({ view: "session", session: hit.session });
  return replayOf(hit);
}

export function replayOf(hit: Hit): string {
  return hrefOf({ view: "replay", session: hit.session_id, at: hit.time });
}

/** Scroll to a hit as soon as its line is drawn; without it, show the replay. */
export function land(open: OpenSession, hit: Hit): () => void {
  const replay = () => go({ view: "replay", session: hit.session_id, at: hit.time }, { replace: true });
  return landAt(open, (rows) => placeOf(rows, hit), replay);
}

/** Scroll to a row as soon as it is drawn; where it never is, do something else. */
export function landAt(
  open: OpenSession,
  placeIn: (rows: string[]) => number,
  otherwise: () => void,
): () => void {
  const { terminal } = open.emulator;
  let over = false;
  const look = (): void => {
    if (over || !open.drawn.value) return;
    open.feed.lookUp();
    const buffer = terminal.buffer.active;
    const rows: string[] = [];
    for (let at = 0; at < buffer.length; at += 1) {
      rows.push(buffer.getLine(at)?.translateToString(true) ?? "");
    }
    const place = placeIn(rows);
    if (place < 0) return;
    stop();
    terminal.scrollToLine(Math.max(0, place - Math.floor(terminal.rows / 2)));
    terminal.selectLines(place, place);
  };
  const listening = terminal.onWriteParsed(look);
  const timer = setTimeout(() => {
    look();
    if (over) return;
    stop();
    otherwise();
  }, PATIENCE);
  function stop(): void {
    over = true;
    listening.dispose();
    clearTimeout(timer);
  }
  look();
  return stop;
}

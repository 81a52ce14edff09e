// One session in the list.

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { end, kill } from "../actions";
import { attention } from "../attention/calls";
import { hrefOf, route } from "../route";
import { isOver, type Listed } from "../sessions";
import { onlyWatches } from "../wire/api";
import { ago, nameOf, stateOf, titleOf } from "../words";
import { Icon } from "./icons";
import { focusedRow, tabStop } from "./tab-stop";

export function Row({ session }: { session: Listed }) {
  const wants = attention.value.get(session.session_id) ?? "idle";
  const state = stateOf(session, wants);
  const at = route.value;
  const open =
    "session" in at &&
    [session.name, session.session_id, String(session.port)].includes(at.session);
  const where = titleOf(session);
  const line = useRef<HTMLDivElement>(null);
  const over = isOver(session);
  // Keep the open session in view, also when it moves to the ended ones.
  useEffect(() => {
    if (open) line.current?.scrollIntoView({ block: "nearest" });
  }, [open, over]);
  return (
    <div class="row-line" ref={line}>
      <a
        class="row"
        href={hrefOf({ view: "session", session: session.name })}
        aria-current={open ? "page" : undefined}
        tabIndex={tabStop.value === session.session_id ? 0 : -1}
        onFocus={() => (focusedRow.value = session.session_id)}
        data-tone={state.tone}
        data-state={session.state}
        data-attention={wants}
        onKeyDown={(event) => keys(event, session)}
      >
        <span class="row-head">
          <span class="dot" aria-hidden="true" />
          <span class="row-name">{session.name}</span>
          {session.driver && (
            <span class="row-driver" title={`${nameOf(session.driver)} drives`}>
              <Icon name="person" />
              <span class="unseen">driven by a person</span>
            </span>
          )}
          {wants === "done" && (
            <span class="row-new" title="You have not looked at this yet">
              <span class="unseen">new</span>
            </span>
          )}
          <span class="row-time">{ago(session.activeAt)}</span>
        </span>
        <span class="row-about">
          <span class="row-state">{state.text}</span>
          <span class="row-where" title={session.cwd}>
            {where}
          </span>
        </span>
        {session.last_line && <span class="row-last">{oneLine(session.last_line)}</span>}
        {session.notice && <span class="row-notice">{session.notice}</span>}
      </a>
      {over && !onlyWatches.value && (
        <button
          class="row-dismiss icon-only"
          tabIndex={-1} // Delete on the row does the same
          title="Dismiss"
          aria-label={`Dismiss ${session.name}`}
          onClick={() => void end(session)}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

/** Full-screen programs spread their last line over the whole width. */
function oneLine(text: string): string {
  return text.trim().replace(/\s{2,}/g, "  ");
}

function keys(event: TargetedKeyboardEvent<HTMLElement>, session: Listed): void {
  if (onlyWatches.value || (event.key !== "Delete" && event.key !== "Backspace")) return;
  event.preventDefault();
  void (isOver(session) ? end(session) : kill(session));
}

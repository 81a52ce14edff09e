// Below a screen that is no longer live: why, and what can be done now.

import * as actions from "../actions";
import { hrefOf } from "../route";
import type { Listed } from "../sessions";
import type { Ending, OpenSession } from "../session/open";
import { onlyWatches } from "../wire/api";
import { endOf } from "../words";

interface Props {
  session: Listed;
  open: OpenSession;
  ending: Ending;
}

export function Ended({ session, open, ending }: Props) {
  // The button disappears with this strip, and the person who pressed it wants to type.
  const again = (act: () => unknown) => {
    act();
    open.emulator.terminal.focus();
  };
  if (ending.kind === "detached") {
    return (
      <div class="strip ended" role="status">
        <p>{ending.message || "All viewers were detached. The session is still running."}</p>
        <button class="primary" onClick={() => again(() => open.connect())}>
          Watch again
        </button>
      </div>
    );
  }
  if (session.gone) {
    return (
      <div class="strip ended" role="status">
        <p>
          {session.running ? "This session was killed." : "This session was dismissed."} Its last
          screen stays here until you leave it.
        </p>
        {!onlyWatches.value && (
          <a class="button" href={hrefOf({ view: "replay", session: session.session_id })}>
            Replay
          </a>
        )}
        <a class="button" href={hrefOf({ view: "list" })}>
          All sessions
        </a>
      </div>
    );
  }
  const lost = session.state === "lost";
  return (
    <div class="strip ended" role="status">
      <p>
        {ending.kind === "gone"
          ? ending.message
          : lost
            ? "This session was lost: its machine or keeper stopped. Its last screen is kept."
            : `The program ${endOf(ending)}. Its last screen is kept.`}
      </p>
      <a class="button" href={hrefOf({ view: "replay", session: session.name })}>
        Replay
      </a>
      {!onlyWatches.value && <Next session={session} lost={lost} again={again} />}
    </div>
  );
}

interface NextProps {
  session: Listed;
  lost: boolean;
  again: (act: () => unknown) => void;
}

/** What a person can do with a session that is over; the daemon refuses it to who only watches. */
function Next({ session, lost, again }: NextProps) {
  return (
    <>
      {lost ? (
        <button class="primary" onClick={() => again(() => actions.restore(session))}>
          Restore
        </button>
      ) : (
        <button onClick={() => again(() => actions.restart(session))}>Start again</button>
      )}
      <button onClick={() => void actions.dismiss(session)}>Dismiss</button>
    </>
  );
}

// Over the dimmed screen: that nothing is heard from the daemon, and that what was typed is lost.

import type { OpenSession } from "../session/open";

export function Lament({ open }: { open: OpenSession }) {
  const dropped = open.dropping;
  if (!open.silent && dropped === null) return null;
  // Not over the line that it is about: above it, or below it.
  const { buffer, rows } = open.emulator.terminal;
  const below = buffer.active.cursorY < rows / 2;
  return (
    <div class="lament" role="alert" data-below={below || undefined}>
      {open.silent && (
        <p>
          <b>
            {open.deaf
              ? "What you type does not reach the daemon."
              : "Nothing is heard from the daemon."}
          </b>{" "}
          The screen may be out of date, and keys are not
          sent. Connecting again…
        </p>
      )}
      {dropped !== null && (
        <p>
          <b>{dropped}</b> The rest of that line is dropped, too.{" "}
          {!open.silent &&
            "Press Enter to type again: at a prompt the line is erased then, elsewhere look at what arrived of it."}
        </p>
      )}
      {dropped !== null && !open.silent && (
        <button class="primary" onClick={() => open.goOn()}>
          Type again
        </button>
      )}
    </div>
  );
}

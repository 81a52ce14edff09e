// Over the dimmed screen: that nothing is heard from the daemon, and that what was typed is lost.

import type { OpenSession } from "../session/open";

export function Lament({ open }: { open: OpenSession }) {
  const dropped = open.dropping;
  if (!open.silent && dropped === null) return null;
  return (
    <div class="lament" role="alert">
      {open.silent && (
        <p>
          <b>Nothing is heard from the daemon.</b> The screen may be out of date, and keys are not
          sent. Connecting again…
        </p>
      )}
      {dropped !== null && (
        <p>
          <b>{dropped}</b> The rest of that line is dropped, too. Look at it, then press Enter to
          type again.
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

// Says that an agent has captured the keyboard. Rule: on a wide page this takes no space from the
// screen, because that would resize the session for the person who drives it.

import type { OpenSession } from "../session/open";

export function Captured({ open, place }: { open: OpenSession; place: "bar" | "strip" }) {
  if (!open.captured.value) return null;
  const to = open.focused.value;
  return (
    <p class={`captured in-${place}`} role="status">
      <span>
        Your keys go to the agent{to ? <> ({to})</> : null}. <kbd>Ctrl+\</kbd> gets them back.
      </span>
    </p>
  );
}

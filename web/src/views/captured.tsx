// Says that an agent has the keyboard. Rule: on a wide page it takes no room of its own, for the
// session would be resized under who drives it.

import type { OpenSession } from "../session/open";

export function Captured({ open, place }: { open: OpenSession; place: "bar" | "strip" }) {
  if (!open.captured.value) return null;
  const to = open.focused.value;
  return (
    <p class={`captured in-${place}`} role="status">
      <span>
        Your keys go to the agent{to ? <> ({to})</> : null}; <kbd>Ctrl+\</kbd> gets them back.
      </span>
    </p>
  );
}

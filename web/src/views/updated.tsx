// The daemon was upgraded while the page was open: there is a new page to load.

import { useSignal, useSignalEffect } from "@preact/signals";

import { door } from "../daemon";

export function Updated() {
  const first = useSignal<string | null>(null);
  const other = useSignal(false);
  useSignalEffect(() => {
    const version = door.value?.version.value ?? null;
    if (version === null) return;
    if (first.peek() === null) first.value = version;
    else other.value = version !== first.peek();
  });
  if (!other.value) return null;
  return (
    <p class="updated" role="status">
      nacre was upgraded. <button onClick={() => location.reload()}>Load the new page</button>
    </p>
  );
}

// A line to type into, for phones: their keyboards correct, complete and dictate there, and the line
// is sent whole.

import type { OpenSession } from "../session/open";

export function TypeLine({ open }: { open: OpenSession }) {
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("line");
    const input = field as HTMLInputElement;
    if (open.typeLine(input.value)) input.value = "";
  }
  return (
    <form class="type-line" onSubmit={submit}>
      <input
        name="line"
        type="text"
        placeholder="Type a line"
        aria-label="Type a line"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        enterkeyhint="send"
      />
      <button class="primary">Send</button>
    </form>
  );
}

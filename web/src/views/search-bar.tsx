// Finds text in the terminal and its scrollback.

import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { OpenSession } from "../session/open";
import { Icon } from "./icons";

export function SearchBar({ open, close }: { open: OpenSession; close: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const found = useSignal(true);
  const { search, terminal } = open.emulator;

  useEffect(() => {
    field.current?.focus();
    open.feed.lookUp();
    return () => search.clearDecorations();
  }, []);

  function find(direction: 1 | -1, { typing = false } = {}): void {
    const text = field.current?.value ?? "";
    const options = { incremental: typing };
    found.value =
      text === "" ||
      (direction > 0 ? search.findNext(text, options) : search.findPrevious(text, options));
  }

  function leave(): void {
    close();
    terminal.focus();
  }

  function keys(event: TargetedKeyboardEvent<HTMLInputElement>): void {
    if (event.key === "Enter") find(event.shiftKey ? 1 : -1);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  }

  return (
    <div class="search-bar" role="search">
      <input
        ref={field}
        type="search"
        placeholder="Find in the terminal"
        aria-label="Find in the terminal"
        aria-invalid={!found.value}
        onInput={() => find(-1, { typing: true })}
        onKeyDown={keys}
      />
      {!found.value && <span class="search-none">not found</span>}
      <button class="icon-only" aria-label="Older" title="Older (Enter)" onClick={() => find(-1)}>
        <Icon name="up" />
      </button>
      <button
        class="icon-only"
        aria-label="Newer"
        title="Newer (Shift+Enter)"
        onClick={() => find(1)}
      >
        <Icon name="down" />
      </button>
      <button class="icon-only" aria-label="Close the search" onClick={leave}>
        <Icon name="close" />
      </button>
    </div>
  );
}

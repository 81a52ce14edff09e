// Finds text in the terminal and its scrollback: how often it is there, each place marked.

import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { scheme } from "../scheme";
import type { OpenSession } from "../session/open";
import { Icon } from "./icons";

export function SearchBar({ open, close }: { open: OpenSession; close: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const found = useSignal<{ at: number; count: number } | null>(null); // null: nothing is sought
  const { search, terminal } = open.emulator;

  // At once: the next key is meant for it, not for the program.
  useLayoutEffect(() => {
    field.current?.focus();
    open.feed.lookUp();
    const told = search.onDidChangeResults(({ resultIndex, resultCount }) => {
      const sought = field.current?.value !== "";
      found.value = sought ? { at: resultIndex + 1, count: resultCount } : null;
    });
    return () => {
      told.dispose();
      search.clearDecorations();
    };
  }, []);

  function find(direction: 1 | -1, { typing = false } = {}): void {
    const text = field.current?.value ?? "";
    if (text === "") {
      search.clearDecorations();
      found.value = null;
      return;
    }
    const options = { incremental: typing, decorations: marks() };
    const any = direction > 0 ? search.findNext(text, options) : search.findPrevious(text, options);
    if (!any) found.value = { at: 0, count: 0 };
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
    <div class="search-bar" role="search" aria-label="Find">
      <input
        ref={field}
        type="search"
        placeholder="Find in the terminal"
        aria-label="Find in the terminal"
        aria-invalid={found.value?.count === 0}
        onInput={() => find(-1, { typing: true })}
        onKeyDown={keys}
      />
      <span class="search-count" role="status" data-none={found.value?.count === 0 || undefined}>
        {found.value && counted(found.value)}
      </span>
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

const MOST = 1000; // matches that are counted and marked: what the search addon allows

function counted({ at, count }: { at: number; count: number }): string {
  if (!count) return "not found";
  const all = count >= MOST ? `${MOST}+` : String(count);
  return at ? `${at} of ${all}` : all;
}

/** The colours of matches: each, and the one that was gone to. */
export function marks() {
  const light = scheme.value === "light";
  const [match, active] = light ? ["#f3dfa6", "#e0a83a"] : ["#574824", "#8f6a17"];
  return {
    matchBackground: match,
    matchOverviewRuler: active,
    activeMatchBackground: active,
    activeMatchColorOverviewRuler: active,
  };
}

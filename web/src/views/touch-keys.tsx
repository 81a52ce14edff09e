// The keys that touch screens lack. Ctrl and Alt hold for the next key.

import type { Signal } from "@preact/signals";

import { codeOf, type ExtraKey } from "../session/keyboard";
import type { OpenSession } from "../session/open";

// A key, its text, and its name where the text is a sign.
const KEYS: [ExtraKey, string, string][] = [
  ["esc", "Esc", ""],
  ["tab", "Tab", ""],
  ["left", "←", "Left"],
  ["up", "↑", "Up"],
  ["down", "↓", "Down"],
  ["right", "→", "Right"],
  ["home", "Home", ""],
  ["end", "End", ""],
  ["pageup", "PgUp", ""],
  ["pagedown", "PgDn", ""],
];
const LETTERS = ["/", "|", "-", "~"];

export function TouchKeys({ open }: { open: OpenSession }) {
  const { terminal } = open.emulator;
  const press = (key: ExtraKey) => {
    open.type(codeOf(key, { application: terminal.modes.applicationCursorKeysMode }));
  };
  // Keep the focus in the terminal, or the screen keyboard would close.
  const keep = (event: Event) => event.preventDefault();
  return (
    <div class="touch-keys" role="toolbar" aria-label="Special keys" onPointerDown={keep}>
      {KEYS.slice(0, 2).map(([key, text, label]) => (
        <button key={key} aria-label={label || undefined} onClick={() => press(key)}>
          {text}
        </button>
      ))}
      <Sticky text="Ctrl" held={open.sticky.ctrl} />
      <Sticky text="Alt" held={open.sticky.alt} />
      {KEYS.slice(2).map(([key, text, label]) => (
        <button key={key} aria-label={label || undefined} onClick={() => press(key)}>
          {text}
        </button>
      ))}
      {LETTERS.map((letter) => (
        <button key={letter} onClick={() => open.type(letter)}>
          {letter}
        </button>
      ))}
      <button onClick={() => void open.paste()}>Paste</button>
    </div>
  );
}

function Sticky({ text, held }: { text: string; held: Signal<boolean> }) {
  return (
    <button aria-pressed={held.value} onClick={() => (held.value = !held.value)}>
      {text}
    </button>
  );
}

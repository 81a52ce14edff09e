// The page's own keys while the terminal has the focus; all other keys go to the program.
// Rule: never take a key that a shell or an editor needs. Ours use Ctrl+Shift, or Cmd on a Mac.

import type { Terminal } from "@xterm/xterm";

export interface PageKeys {
  copy(): void;
  search(): void;
  control(): void;
  list(): void;
  activity(): void;
  lookUp(): void;
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function takePageKeys(terminal: Terminal, keys: PageKeys): void {
  const ours: Record<string, () => void> = {
    KeyC: keys.copy,
    KeyF: keys.search,
    KeyX: keys.control,
    KeyL: keys.list,
    KeyY: keys.activity,
  };
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type !== "keydown") return true;
    endComposedText(terminal);
    if (event.shiftKey && event.key === "PageUp") keys.lookUp();
    if (isMac && event.metaKey) return macKey(event, terminal, keys);
    if (!event.ctrlKey || !event.shiftKey || event.altKey || event.metaKey) return true;
    if (event.code === "KeyV") return false; // the browser's own paste, which asks nobody
    const action = ours[event.code];
    if (!action) return true;
    event.preventDefault();
    action();
    return false;
  });
}

interface Composing {
  _core?: { _compositionHelper?: { _compositionPosition?: { end: number } } };
}

/**
 * Tell xterm.js where the text of an input method ends. A key that comes next has it send that text
 * at once, but it looks where the text ends a moment later: on a busy machine that was lost, and
 * what had been typed before was typed again. There is no public way.
 */
function endComposedText(terminal: Terminal): void {
  const place = (terminal as Composing)._core?._compositionHelper?._compositionPosition;
  if (place && terminal.textarea) place.end = terminal.textarea.value.length;
}

/** Terminals never use Cmd: it is free for the browser and for us. */
function macKey(event: KeyboardEvent, terminal: Terminal, keys: PageKeys): boolean {
  if (event.code === "KeyC" && terminal.hasSelection()) keys.copy();
  if (event.code === "KeyF") {
    event.preventDefault();
    keys.search();
  }
  return false;
}

// What a terminal sends for keys that touch screens lack (xterm ctlseqs, "PC-Style Function Keys").
const CURSOR = { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" } as const;
const OTHER = { esc: "\x1b", tab: "\t", pageup: "\x1b[5~", pagedown: "\x1b[6~" } as const;

export type ExtraKey = keyof typeof CURSOR | keyof typeof OTHER;

/** `application` is the mode with the other form of cursor keys (DECCKM). */
export function codeOf(key: ExtraKey, { application }: { application: boolean }): string {
  if (key in OTHER) return OTHER[key as keyof typeof OTHER];
  return `\x1b${application ? "O" : "["}${CURSOR[key as keyof typeof CURSOR]}`;
}

/** A letter with Ctrl or Alt, as a keyboard would send it. */
export function withModifiers(
  text: string,
  { ctrl, alt }: { ctrl: boolean; alt: boolean },
): string {
  let sent = text;
  if (ctrl && text.length === 1) {
    const code = text.toUpperCase().charCodeAt(0);
    if (code >= 0x40 && code <= 0x5f) sent = String.fromCharCode(code & 0x1f);
    else if (text === " ") sent = "\0";
    else if (text === "?") sent = "\x7f";
  }
  return alt ? `\x1b${sent}` : sent;
}

/** Pasted text without control characters: an ESC in it could end the bracketed paste. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\t\n\r]/gu, "");
}

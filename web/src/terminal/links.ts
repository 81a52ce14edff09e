// Links in a terminal: only http and https, in a new tab, and their address is shown first.

import { WebLinksAddon } from "@xterm/addon-web-links";
import type { ILinkHandler, Terminal } from "@xterm/xterm";
import { signal } from "@preact/signals";

/** The address of the link under the pointer; its text may say something else. */
export const pointedAt = signal<string | null>(null);

export const linkHandler: ILinkHandler = {
  activate: (_event, address) => open(address),
  hover: (_event, address) => point(address),
  leave: () => point(null),
};

export function addWebLinks(terminal: Terminal): void {
  const addon = new WebLinksAddon((_event, address) => open(address), {
    hover: (_event, address) => point(address),
    leave: () => point(null),
  });
  terminal.loadAddon(addon);
}

/**
 * Find links that are printed under a pointer that does not move.
 * xterm.js looks for links only when the pointer enters a line. So we send it events as if the
 * pointer left the line and came back. These events do not bubble: the listener that reports the
 * mouse to programs is further up and does not get them.
 */
export function findFreshLinks(terminal: Terminal): void {
  const { element } = terminal;
  const screen = element?.querySelector<HTMLElement>(".xterm-screen");
  if (!element || !screen) return;
  let pointer: { x: number; y: number; row: number } | null = null;
  let looked = ""; // the text in which was looked for links

  const heightOf = (box: DOMRect) => box.height / terminal.rows;
  const textAt = (row: number) => {
    const buffer = terminal.buffer.active;
    return buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? "";
  };
  element.addEventListener("mousemove", ({ clientX: x, clientY: y }) => {
    const box = screen.getBoundingClientRect();
    const row = Math.floor((y - box.top) / heightOf(box));
    if (row !== pointer?.row) looked = textAt(row);
    pointer = { x, y, row };
  });
  element.addEventListener("mouseleave", () => (pointer = null));
  terminal.onRender(({ start, end }) => {
    if (!pointer || pointer.row < start || pointer.row > end) return;
    const text = textAt(pointer.row);
    if (text === looked) return;
    looked = text;
    const away = heightOf(screen.getBoundingClientRect()) * (pointer.row > 0 ? -1 : 1);
    for (const aside of [away, 0]) {
      const place = { clientX: pointer.x, clientY: pointer.y + aside };
      screen.dispatchEvent(new MouseEvent("mousemove", place));
    }
  });
}

function open(address: string): void {
  if (isWeb(address)) window.open(address, "_blank", "noopener,noreferrer");
}

function point(address: string | null): void {
  pointedAt.value = address !== null && isWeb(address) ? address : null;
}

function isWeb(address: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

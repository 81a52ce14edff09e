// Links in a terminal: http and https alone, in a new tab, and their address is shown before.

import { WebLinksAddon } from "@xterm/addon-web-links";
import type { ILinkHandler, Terminal } from "@xterm/xterm";
import { signal } from "@preact/signals";

/** Where the pointer's link leads; what a program prints as its text may say something else. */
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

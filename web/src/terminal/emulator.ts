// One xterm.js, set up like the daemon's terminal. The live view and the replay use it.

import { signal } from "@preact/signals";
import { SearchAddon } from "@xterm/addon-search";
import { WebglAddon } from "@xterm/addon-webgl";
import { Terminal } from "@xterm/xterm";

import { keep, kept } from "../kept";
import { scheme } from "../scheme";
import { followClusters } from "./clusters";
import { FAMILY } from "./font";
import { addWebLinks, findFreshLinks, linkHandler } from "./links";
import { DARK, LIGHT, themeOf } from "./palette";
import { silence } from "./silence";

export interface Emulator {
  terminal: Terminal;
  search: SearchAddon;
  /** The cells have whole pixels: the graphics card draws them. */
  whole: boolean;
}

/** Screen readers need the screen as text too, which makes each draw slower. */
export const readAloud = signal(kept("readAloud") === "on");

export function toggleReadAloud(): void {
  readAloud.value = !readAloud.value;
  keep("readAloud", readAloud.value ? "on" : "off");
}

export function palette() {
  return scheme.value === "light" ? LIGHT : DARK;
}

export function createEmulator(
  host: HTMLElement,
  { scrollback }: { scrollback: number },
): Emulator {
  const terminal = new Terminal({
    allowProposedApi: true, // widths of characters
    cols: 80,
    rows: 24,
    cursorBlink: false,
    cursorInactiveStyle: "outline",
    customGlyphs: true,
    drawBoldTextInBrightColors: false,
    fontFamily: FAMILY,
    fontSize: 14,
    lineHeight: 1,
    linkHandler,
    macOptionIsMeta: false, // on many keyboards Option makes [ ] { } | ~ and @
    rightClickSelectsWord: false,
    scrollback,
    smoothScrollDuration: 0,
    ...themed(),
  });
  silence(terminal);
  followClusters(terminal);
  addWebLinks(terminal);
  const search = new SearchAddon();
  terminal.loadAddon(search);
  terminal.open(host);
  findFreshLinks(terminal);
  const emulator = { terminal, search, whole: false };
  drawWithGraphicsCard(emulator);
  return emulator;
}

export function themed() {
  // Programs assume a dark screen; on a light one their colours need more contrast.
  return {
    theme: themeOf(palette()),
    screenReaderMode: readAloud.value,
    minimumContrastRatio: scheme.value === "light" ? 4.5 : 1,
  };
}

/** WebGL in software is slower than the DOM, so only a real graphics card is used. */
function drawWithGraphicsCard(emulator: Emulator): void {
  if (!hasGraphicsCard()) return;
  try {
    const addon = new WebglAddon();
    addon.onContextLoss(() => {
      addon.dispose();
      emulator.whole = false;
    });
    emulator.terminal.loadAddon(addon);
    emulator.whole = true;
  } catch {
    emulator.whole = false;
  }
}

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function hasGraphicsCard(): boolean {
  const options = { failIfMajorPerformanceCaveat: true };
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", options) as WebGL2RenderingContext | null;
  if (!context) return false;
  const names = context.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return !SOFTWARE.test(name);
}

// Widths as the daemon's terminal counts them: by character, or by grapheme cluster if the program
// asks for that (mode 2027).

import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import type { IUnicodeVersionProvider, Terminal } from "@xterm/xterm";

import { widthOf } from "./widths";

const MODE = 2027;

// Without clusters the addon would give every combining mark a cell.
const byCharacter: IUnicodeVersionProvider = {
  version: "by character",
  wcwidth: widthOf,
  charProperties: (code, before) => {
    const own = widthOf(code);
    const widthBefore = (before >> 1) & 3;
    const joins = own === 0 && widthBefore > 0;
    // Packed as in xterm.js: whether it joins the cell before, the width of both, a state.
    return ((joins ? widthBefore : own) << 1) | (joins ? 1 : 0);
  },
};
const BY_CLUSTER = "15-graphemes"; // the addon's

export function followClusters(terminal: Terminal): void {
  const { parser, unicode } = terminal;
  terminal.loadAddon(new UnicodeGraphemesAddon());
  unicode.register(byCharacter);
  unicode.activeVersion = byCharacter.version;
  const follow = (final: "h" | "l", version: string) =>
    parser.registerCsiHandler({ prefix: "?", final }, (params) => {
      if (params.includes(MODE)) unicode.activeVersion = version;
      return false; // the other modes of the same sequence are xterm's to set
    });
  follow("h", BY_CLUSTER);
  follow("l", byCharacter.version);
  parser.registerEscHandler({ final: "c" }, () => {
    unicode.activeVersion = byCharacter.version; // RIS resets modes
    return false;
  });
}

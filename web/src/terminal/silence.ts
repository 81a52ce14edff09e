// Keeps this terminal from answering queries. Rule: the daemon's own terminal has already answered
// every query of the program. Another answer, from each page that watches, would arrive as keys.

import type { IFunctionIdentifier, Terminal } from "@xterm/xterm";

// xterm ctlseqs: DA1, DA2, DA3, DSR, DECDSR, DECRQM (ANSI and private), XTVERSION, XTWINOPS, and
// the keyboard query of kitty.
const QUESTIONS: IFunctionIdentifier[] = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { prefix: ">", final: "q" },
  { final: "t" },
  { prefix: "?", final: "u" },
];

// OSC 4, 10, 11, 12 change colours or ask for them; OSC 52 is the clipboard.
const COLOURS = [4, 10, 11, 12];
const CLIPBOARD = 52;

export function silence(terminal: Terminal): void {
  const { parser } = terminal;
  QUESTIONS.forEach((id) => parser.registerCsiHandler(id, () => true));
  COLOURS.forEach((code) => parser.registerOscHandler(code, (data) => data.includes("?")));
  parser.registerOscHandler(CLIPBOARD, () => true);
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, () => true); // DECRQSS
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, () => true); // XTGETTCAP
}

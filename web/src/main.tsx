// Where the page starts.

import "./style/index.css";

import { render } from "preact";

import "./attention/notify";
import { takeProof } from "./route";
import { find } from "./sessions";
import { key } from "./wire/api";
import { App } from "./views/app";
import { current } from "./views/session";
import { followViewport } from "./style/viewport";

const proof = takeProof();
if (proof !== null) key.value = null; // a fresh link is a fresh login

// For tests, and for people at the console.
Object.defineProperty(window, "nacre", {
  value: {
    get term() {
      return current.value?.emulator.terminal ?? null;
    },
    get session() {
      const id = current.value?.id;
      return id === undefined ? null : (find(id)?.name ?? id);
    },
    text(): string[] {
      const terminal = current.value?.emulator.terminal;
      if (!terminal) return [];
      const buffer = terminal.buffer.active;
      return Array.from({ length: terminal.rows }, (_, row) => {
        return buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? "";
      });
    },
  },
});

followViewport();
const page = document.getElementById("page");
if (page) {
  page.replaceChildren(); // what was there while this loaded
  render(<App proof={proof} />, page);
}

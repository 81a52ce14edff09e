// The list of keys.

import { closeDialog } from "../dialogs";
import { isMac } from "../session/keyboard";

const SHEETS: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["/", "filter the sessions"],
      ["s", "search all output"],
      ["↑ ↓", "move in the list"],
      ["Enter", "open the session"],
      ["Delete", "kill it, or dismiss an ended one"],
      ["n", "new session"],
      ["?", "this help"],
    ],
  ],
  [
    "In the terminal",
    [
      ["Ctrl+Shift+X", "take over, give back"],
      ["Ctrl+Shift+L", "back to the list"],
      ["Ctrl+Shift+Y", "the commands that ran"],
      [isMac ? "⌘C" : "Ctrl+Shift+C", "copy the selection"],
      [isMac ? "⌘V" : "Ctrl+Shift+V", "paste"],
      [isMac ? "⌘F" : "Ctrl+Shift+F", "find"],
      ["Shift+PgUp", "look back"],
      ["Ctrl+\\", "get captured keys back"],
    ],
  ],
  [
    "In a replay",
    [
      ["Space", "play, pause"],
      ["← →", "5 seconds back, forward"],
      ["[ ]", "previous, next command"],
      ["< >", "slower, faster"],
      ["0 … 9", "jump to 0 % … 90 %"],
      ["f", "find in the recording"],
    ],
  ],
];

export function Help() {
  return (
    <div class="help">
      {SHEETS.map(([title, keys]) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([key, text]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="hint">
        All other keys go to the program. Keys of the browser itself (Ctrl+W, Ctrl+T, Ctrl+N) reach
        it only in full screen, if the browser allows that.
      </p>
      <div class="dialog-buttons">
        <button class="primary" onClick={closeDialog}>
          Close
        </button>
      </div>
    </div>
  );
}

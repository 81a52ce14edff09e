// What is shown while no session is open: how to begin.

import { dialog } from "../dialogs";
import { sessions } from "../sessions";
import { note } from "../toasts";
import { Icon, Pearl } from "./icons";

const CONFIG = `{
  "mcpServers": {
    "nacre": { "command": "nacre", "args": ["mcp"] }
  }
}`;

export function Empty() {
  if (sessions.value === null) return <main class="main" aria-busy="true" />;
  const some = sessions.value.size > 0;
  return (
    <main class="main empty">
      <div>
        <Pearl size={40} />
        <h1>{some ? "Choose a session" : "No sessions yet"}</h1>
        <p>
          {some
            ? "Watch its program live, type into it, or take over."
            : "Open one yourself, or give nacre to your agent and watch what it does."}
        </p>
        <p>
          <button class="primary" onClick={() => (dialog.value = { kind: "new" })}>
            <Icon name="plus" /> New session
          </button>
        </p>
        <section>
          <h2>For your AI host</h2>
          <div class="code">
            <pre>{CONFIG}</pre>
            <button class="quiet" onClick={() => void copy()}>
              <Icon name="copy" /> Copy
            </button>
          </div>
          <p class="hint">
            <code>nacre</code> must be on the host’s PATH. In a shell, <code>nacre new dev</code>{" "}
            opens a session and <code>nacre attach dev</code> joins it.
          </p>
        </section>
      </div>
    </main>
  );
}

export function Missing({ name }: { name: string }) {
  return (
    <main class="main empty">
      <div>
        <Pearl size={40} />
        <h1>No session “{name}”</h1>
        <p>It was killed, dismissed or renamed, or it never existed.</p>
        <p>
          <a class="button" href="#/">
            All sessions
          </a>
        </p>
      </div>
    </main>
  );
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(CONFIG);
    note("Copied.");
  } catch {
    note("The browser does not let this page copy. Select the text instead.");
  }
}

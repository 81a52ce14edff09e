// The MCP servers behind nacre: what each does, and why one does not work.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { ask } from "../daemon";
import { closeDialog } from "../dialogs";

interface Upstream {
  name: string;
  state: "disabled" | "idle" | "connecting" | "connected" | "failed";
  tools: number | null;
  error: string | null;
  target: string;
}

export function Upstreams() {
  const servers = useSignal<readonly Upstream[] | null>(null);
  useEffect(() => {
    void ask<{ servers: Upstream[] }>("list_upstreams", null).then((found) => {
      servers.value = found?.servers ?? [];
    });
  }, []);
  const found = servers.value;
  return (
    <div class="upstreams">
      {found?.length ? (
        <ul>
          {found.map((one) => (
            <li key={one.name}>
              <b>{one.name}</b>
              <span class={`state ${one.state}`}>{one.state}</span>
              <span class="tools">{one.tools === null ? "" : counted(one.tools)}</span>
              <p class={one.error ? "error" : "hint"}>{one.error ?? one.target}</p>
            </li>
          ))}
        </ul>
      ) : (
        <p class="hint">{found ? "There are none." : "…"}</p>
      )}
      <p class="hint">
        <code>nacre upstream add NAME -- COMMAND</code> adds one, <code>nacre upstream --help</code>{" "}
        says more.
      </p>
      <div class="dialog-buttons">
        <button type="button" onClick={closeDialog}>
          Close
        </button>
      </div>
    </div>
  );
}

function counted(tools: number): string {
  return tools === 1 ? "1 tool" : `${tools} tools`;
}

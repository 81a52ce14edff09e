// The page: the login, or the list and beside it what is open.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { dialog } from "../dialogs";
import { door, warnings } from "../daemon";
import { go, route } from "../route";
import { find, live, sessions } from "../sessions";
import { NARROW } from "../style/viewport";
import { key, type Proof } from "../wire/api";
import { Dialogs } from "./dialogs";
import { Empty } from "./empty";
import { Login } from "./login";
import { useMedia } from "./media";
import { FloatingNeeds } from "./needs";
import { ReplayView } from "./replay";
import { SearchView } from "./search";
import { SessionView } from "./session";
import { focusFilter, Sidebar } from "./sidebar";
import { Toaster } from "./toaster";
import { Wall } from "../wall/wall";
import { Updated } from "./updated";
import { Warnings } from "./warnings";

export function App({ proof }: { proof: Proof | null }) {
  const narrow = useMedia(NARROW); // else they are in the sidebar
  const unused = useRef(proof); // a code is good once: after a log-out it is not tried again
  return (
    <>
      {key.value === null ? <Login proof={unused} /> : <Shell />}
      {(key.value === null || narrow) && <Toaster />}
      <Dialogs />
    </>
  );
}

function Shell() {
  const narrow = useMedia(NARROW);
  const at = route.value;
  // By id: a renamed session is still the same one.
  const id = "session" in at ? (find(at.session)?.session_id ?? at.session) : "";
  useEffect(() => {
    addEventListener("keydown", shortcuts);
    return () => removeEventListener("keydown", shortcuts);
  }, []);
  return (
    <div class="shell" data-view={at.view} data-warned={warnings.value.length > 0 || undefined}>
      <Warnings />
      <Sidebar />
      {at.view === "list" && !(narrow && sessions.value?.size) && (live.value.length ? <Wall /> : <Empty />)}
      {at.view === "session" && <SessionView key={id} reference={at.session} />}
      {at.view === "replay" && <ReplayView key={id} reference={at.session} moment={at.at} />}
      {at.view === "search" && <SearchView text={at.text} />}
      <FloatingNeeds />
      <Connection />
      <Updated />
    </div>
  );
}

const PATIENCE = 10_000; // ms; a daemon that was killed is back long before

/** Shown only after a while: a daemon that restarts is back before anyone could read it. */
function Connection() {
  const lost = door.value?.state.value === "opening";
  const stays = useSignal(false); // lost, and nobody brings it back
  useEffect(() => {
    stays.value = false;
    if (!lost) return;
    const timer = setTimeout(() => (stays.value = true), PATIENCE);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!lost) return null;
  return (
    <p class="connection" role="status">
      <span class="dot" aria-hidden="true" />{" "}
      {stays.value ? (
        <span>
          The daemon does not answer. <code>nacre web</code> starts one.
        </span>
      ) : (
        "Reconnecting…"
      )}
    </p>
  );
}

function shortcuts(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const typing = target.closest("input, textarea, .xterm, dialog, [role=menu]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const ours: Record<string, () => void> = {
    "/": focusFilter,
    "?": () => (dialog.value = { kind: "help" }),
    s: () => go({ view: "search", text: "" }),
    n: () => (dialog.value = { kind: "new" }),
  };
  const action = ours[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

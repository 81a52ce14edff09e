// What is open, from the address's fragment: #/session/NAME, #/replay/NAME (?t=SECONDS since the
// epoch), #/search/TEXT, or only the list.

import { signal } from "@preact/signals";

import type { Proof } from "./wire/api";

export type Route =
  | { view: "list" }
  | { view: "session"; session: string }
  | { view: "replay"; session: string; at?: number }
  | { view: "search"; text: string };

export const route = signal<Route>(read());

addEventListener("hashchange", () => {
  // A new login link in the same tab changes only the fragment, so the page must be reloaded.
  if (/^#(code|token)=/.test(location.hash)) location.reload();
  else route.value = read();
});

export function hrefOf(to: Route): string {
  if (to.view === "list") return "#/";
  if (to.view === "search") return `#/search/${encodeURIComponent(to.text)}`;
  const moment = to.view === "replay" && to.at !== undefined ? `?t=${to.at}` : "";
  return `#/${to.view}/${encodeURIComponent(to.session)}${moment}`;
}

export function go(to: Route, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", hrefOf(to));
  else history.pushState(null, "", hrefOf(to));
  route.value = to;
}

/** Take what logs in out of the address, so that it does not stay in the history. */
export function takeProof(): Proof | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [code, token] = [fragment.get("code"), fragment.get("token")];
  if (code === null && token === null) return null;
  const session = fragment.get("session");
  go(session === null ? { view: "list" } : { view: "session", session }, { replace: true });
  return code !== null ? { code } : { token: token ?? "" };
}

function read(): Route {
  const search = /^#\/search\/(.*)$/.exec(location.hash);
  if (search) return { view: "search", text: decodeURIComponent(search[1] ?? "") };
  const found = /^#\/(session|replay)\/([^?]+)(?:\?t=([\d.]+))?$/.exec(location.hash);
  if (!found) return { view: "list" };
  const session = decodeURIComponent(found[2] ?? "");
  if (found[1] === "session") return { view: "session", session };
  return { view: "replay", session, ...(found[3] ? { at: Number(found[3]) } : {}) };
}

// The hosts of the cluster, as the daemon reports them. Outside of a cluster there are none.
// Rule: only the daemon's events change the list.

import { signal } from "@preact/signals";

import type { Listed } from "./sessions";
import type { ClusterHost, Event } from "./wire/shapes";

export const hosts = signal<readonly ClusterHost[]>([]);

export function hear(event: Event): void {
  if (event.event === "hosts") hosts.value = event.hosts;
}

export interface HostGroup {
  host: string;
  said: ClusterHost | null; // null: nobody has told of this host yet
  sessions: Listed[];
}

/** One group for each host that is there or has sessions in the list: this one first. */
export function groupByHost(known: readonly ClusterHost[], sessions: readonly Listed[]): HostGroup[] {
  const groups = new Map<string, HostGroup>();
  const inOrder = [...known].sort((a, b) => Number(b.here) - Number(a.here) || (a.host < b.host ? -1 : 1));
  for (const said of inOrder) groups.set(said.host, { host: said.host, said, sessions: [] });
  for (const one of sessions) {
    const host = one.host ?? "";
    const group = groups.get(host) ?? { host, said: null, sessions: [] };
    group.sessions.push(one);
    groups.set(host, group);
  }
  // A host that left on purpose is of no interest once its sessions are off the list.
  return [...groups.values()].filter((one) => one.said?.state !== "left" || one.sessions.length);
}

/** Tell whether a session is shown as lost because its host is. */
export function isOfLostHost(known: readonly ClusterHost[], one: Listed): boolean {
  if (one.state !== "lost") return false;
  const said = known.find((host) => host.host === one.host);
  return said?.state === "lost" || said?.state === "left";
}

export interface Health {
  tone: "well" | "held" | "bad"; // held: it takes no new sessions
  text: string; // what a person must know; "" while all is well
}

export function healthOf(said: ClusterHost | null): Health {
  if (said === null) return { tone: "well", text: "" };
  if (said.state === "lost" || said.state === "left") return { tone: "bad", text: said.state };
  if (!said.compatible) return { tone: "bad", text: `version ${said.version} does not fit` };
  if (said.state === "suspect") return { tone: "bad", text: "does not answer" };
  if (said.draining) return { tone: "held", text: "draining" };
  return said.sessions >= said.capacity ? { tone: "held", text: "full" } : { tone: "well", text: "" };
}

import assert from "node:assert/strict";
import { test } from "node:test";

import { groupByHost, healthOf, isOfLostHost } from "../src/hosts";
import type { Listed } from "../src/sessions";
import type { ClusterHost } from "../src/wire/shapes";

const fine = { state: "up", here: false, sessions: 1, capacity: 9, draining: false, labels: [] } as const;
const said = (host: string, more: Partial<ClusterHost> = {}): ClusterHost => {
  return { ...fine, labels: [], host, version: "1.0.0", compatible: true, ...more };
};
const on = (name: string, host: string, state = "prompt") => ({ name, host, state }) as unknown as Listed;

test("this host's group is the first, and a host without sessions has one", () => {
  const groups = groupByHost([said("a"), said("c", { here: true }), said("b")], [on("x", "b"), on("y", "c")]);
  assert.deepEqual(groups.map((one) => one.host), ["c", "a", "b"]);
  assert.deepEqual(groups.map((one) => one.sessions.length), [1, 0, 1]);
});

test("a host that left is shown while its sessions are, one that nobody told of yet too", () => {
  const left = said("b", { state: "left" });
  assert.deepEqual(groupByHost([said("a"), left], []).map((one) => one.host), ["a"]);
  const groups = groupByHost([said("a"), left], [on("x", "b", "lost"), on("y", "z")]);
  assert.deepEqual(groups.map((one) => one.host), ["a", "b", "z"]);
});

test("health is the worst that is known", () => {
  const told = (more: Partial<ClusterHost>) => healthOf(said("a", more));
  assert.deepEqual(told({}), { tone: "well", text: "" });
  assert.deepEqual(told({ draining: true }), { tone: "held", text: "draining" });
  assert.deepEqual(told({ sessions: 9 }), { tone: "held", text: "full" });
  assert.deepEqual(told({ draining: true, state: "lost" }), { tone: "bad", text: "lost" });
  assert.equal(told({ compatible: false }).text, "version 1.0.0 does not fit");
});

test("a session is lost with its host, or by itself", () => {
  const known = [said("a"), said("b", { state: "lost" })];
  assert.equal(isOfLostHost(known, on("x", "b", "lost")), true);
  assert.equal(isOfLostHost(known, on("x", "a", "lost")), false);
  assert.equal(isOfLostHost(known, on("x", "b", "exited")), false);
});

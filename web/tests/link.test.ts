import "./page";

import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { addEventListener: () => {}, removeEventListener: () => {} });
Object.assign(document, { addEventListener: () => {}, removeEventListener: () => {} });
const { Link } = await import("../src/wire/link");

const LOUDEST = 1.25; // a pause is longer than meant by chance, at most so many times

test("a page tries often for as long as keys wait, and then seldom", async () => {
  const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout };
  let now = 0;
  let asked = () => {};
  let next: { call: () => void; ms: number } | null = null;
  const waits = () => new Promise<void>((resolve) => (asked = resolve));
  performance.now = () => now;
  globalThis.fetch = () => Promise.reject(new Error("nobody listens"));
  // The signal that bounds a request has a timer of its own, which is not one of the page's.
  globalThis.setTimeout = ((call: () => void, ms: number) => {
    next = { call, ms };
    asked();
    return 1;
  }) as typeof setTimeout;
  const pauses: { at: number; ms: number }[] = [];
  let waiting = waits();
  const link = new Link("ws/json", () => ({}), { text: () => {} });
  try {
    while (now < 60_000) {
      await waiting;
      waiting = waits();
      const { call, ms } = next!;
      pauses.push({ at: now, ms });
      now += ms;
      call();
    }
  } finally {
    link.close();
    Object.assign(globalThis, real);
  }
  const early = pauses.filter(({ at }) => at < 9000);
  assert.ok(early.length > 6);
  assert.ok(early.every(({ ms }) => ms <= 1000 * LOUDEST));
  assert.ok(pauses.some(({ ms }) => ms > 3000));
  assert.ok(pauses.every(({ ms }) => ms <= 8000 * LOUDEST));
});

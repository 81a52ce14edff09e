import assert from "node:assert/strict";
import { test } from "node:test";

import { visible } from "../src/approvals";
import { attentionOf, finishedOf, firstLine, outcomeOf, type Facts } from "../src/attention/attention";

const known = { approval: false, settled: true, finished: null, question: null };
const prompt: Facts = { state: "prompt", asks: null };
const last = { command: "make test\nmore", started: 100, ended: 130, exit_code: 2 };
const named = { ...prompt, name: "dev", exit_code: null, signal: null };

test("an approval blocks, whatever the session does", () => {
  assert.equal(attentionOf({ ...prompt, state: "running" }, { ...known, approval: true }), "blocked");
});

test("a password and a yes block until they are answered, seen or not", () => {
  for (const asks of ["password", "confirm"]) {
    const facts: Facts = { state: "needs_input", asks, question: "Sure?" };
    assert.equal(attentionOf(facts, { ...known, question: "Sure?" }), "blocked");
    assert.equal(attentionOf(facts, { ...known, settled: false }), "idle");
    assert.equal(attentionOf({ ...facts, driver: "Anna" }, known), "idle");
  }
});

test("a line blocks until it was seen, and only where something is asked", () => {
  const facts: Facts = { state: "needs_input", asks: "line", question: "Name:" };
  assert.equal(attentionOf(facts, known), "blocked");
  assert.equal(attentionOf(facts, { ...known, question: "Name:" }), "idle");
  assert.equal(attentionOf({ ...facts, question: "" }, known), "idle");
});

test("what ended is done until it was seen", () => {
  const facts: Facts = { ...prompt, last_command: last };
  assert.equal(attentionOf(facts, known), "done");
  assert.equal(attentionOf(facts, { ...known, finished: 130 }), "idle");
  assert.equal(attentionOf({ ...facts, state: "running" }, known), "working");
  assert.equal(finishedOf({ state: "exited", asks: null, ended: 7, last_command: last }), 7);
  assert.equal(attentionOf(prompt, known), "idle");
});

test("a notification names the session and what became of it", () => {
  const asks = { ...named, state: "needs_input" as const, asks: "password", question: "Password:" };
  assert.deepEqual(outcomeOf(asks, "blocked"), { title: "dev asks for a password", text: "Password:" });
  assert.equal(outcomeOf(named, "blocked", "rm a\u202eb")?.text, "rm a\\u202eb");
  const failed = outcomeOf({ ...named, last_command: last }, "done");
  assert.equal(failed?.title, "dev: make test failed with 2");
  const short = { ...last, started: 129 };
  assert.equal(outcomeOf({ ...named, last_command: short }, "done"), null);
  assert.equal(outcomeOf({ ...named, state: "exited", exit_code: 1 }, "done")?.text, "exited with 1");
  assert.equal(outcomeOf(named, "idle"), null);
});

test("a title has one short line", () => {
  assert.equal(firstLine("  a\nb"), "a");
  assert.equal(firstLine("x".repeat(99), 10), `${"x".repeat(9)}…`);
});

test("a question shows every character of what is asked", () => {
  assert.equal(visible("ls a\nls b  größe 文 😀"), "ls a\nls b  größe 文 😀");
  assert.equal(visible("a\u{e0072}b\u202ec\u3164d\u2800e\u00a0f\r"), "a\\u{e0072}b\\u202ec\\u3164d\\u2800e\\u00a0f\\u000d");
});

import assert from "node:assert/strict";
import { test } from "node:test";

Object.assign(globalThis, { window: globalThis });
const { Typed } = await import("../src/wire/typed");

const bytes = (text: string) => new TextEncoder().encode(text);
const fresh = { taken: 0, received: 0, unsure: false, dropped: false };

test("what was typed is kept until it was taken, and sent again from there", () => {
  const typed = new Typed();
  typed.typing(fresh);
  assert.equal(typed.add(bytes("abc")), true);
  assert.deepEqual(typed.message(), { type: btoa("abc"), number: 0 });
  assert.equal(typed.message(), null);
  typed.went();
  typed.typing({ ...fresh, taken: 1, received: 1 });
  assert.deepEqual(typed.message(), { type: btoa("bc"), number: 1 });
  typed.close();
});

test("after a loss the rest of the line is dropped, up to its Enter", () => {
  const typed = new Typed();
  typed.typing(fresh);
  typed.add(bytes("rm -rf /tmp/x"));
  typed.message();
  typed.dropped(13, "another person drives");
  assert.match(typed.dropping.value ?? "", /another person drives/);
  assert.equal(typed.add(bytes("y")), false);
  assert.equal(typed.add(bytes("z\rls")), true);
  assert.deepEqual(typed.message(), { type: btoa("ls"), number: 16, go_on: true });
  typed.close();
});

test("an Enter in pasted text ends no line, Ctrl+C does and is sent", () => {
  const typed = new Typed();
  typed.typing(fresh);
  typed.add(bytes("x"));
  typed.message();
  typed.dropped(1, "");
  assert.equal(typed.add(bytes("\x1b[200~a\rb\x1b[201~")), false);
  assert.equal(typed.add(bytes("\x03")), true);
  assert.equal(typed.message()?.type, btoa("\x03"));
  typed.close();
});

test("that the person goes on is said at once, and once", () => {
  const typed = new Typed();
  typed.typing(fresh);
  typed.add(bytes("echo ha"));
  typed.message();
  typed.dropped(7, "");
  assert.equal(typed.add(bytes("lf\r")), true);
  assert.deepEqual(typed.message(), { type: "", number: 10, go_on: true });
  assert.equal(typed.message(), null);
  typed.close();
});

test("a line of which only the end was dropped is not gone on with in silence", () => {
  const typed = new Typed();
  typed.typing(fresh);
  typed.add(bytes("echo ha"));
  typed.message();
  typed.silent();
  assert.equal(typed.add(bytes("lf")), false);
  typed.typing({ ...fresh, taken: 7, received: 7 });
  assert.match(typed.dropping.value ?? "", /a part/i);
  typed.close();
});

test("who has just said that they go on is not stopped by what was before", () => {
  const typed = new Typed();
  typed.typing(fresh);
  typed.add(bytes("echo ha"));
  typed.message();
  typed.dropped(7, "");
  typed.went();
  typed.add(bytes("lf\rls\r"));
  typed.typing({ taken: 3, received: 7, unsure: false, dropped: true });
  assert.equal(typed.dropping.value, null);
  assert.deepEqual(typed.message(), { type: btoa("ls\r"), number: 10, go_on: true });
  typed.close();
});

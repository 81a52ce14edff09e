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
  assert.deepEqual(typed.message(), { type: btoa("ls"), number: 13, go_on: true });
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

// What the page's modules expect of a browser, as much of it as the pure parts use. Import it first.

export const frames: ((now: number) => void)[] = [];

const every = globalThis.setInterval;
Object.assign(globalThis, {
  window: globalThis,
  self: globalThis,
  requestAnimationFrame: (call: (now: number) => void) => frames.push(call),
  cancelAnimationFrame: () => frames.splice(0),
  // Nothing is measured: widths are a share of the font's size.
  document: { createElement: () => ({ getContext: () => null }), hidden: false },
  devicePixelRatio: 1,
  location: { href: "http://127.0.0.1:19999/", hash: "" },
  navigator: { platform: "Linux", userAgent: "", language: "en" },
  // A clock that ticks for ever would keep the tests from ending.
  setInterval: (call: () => void, ms: number) => every(call, ms).unref(),
});

/** Draw the next frame, so many seconds after the last one. */
export function frame(now: number): void {
  frames.splice(0).forEach((call) => call(now));
}

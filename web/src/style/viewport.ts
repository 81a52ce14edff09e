// What the window has room for.

/** Where the list is a page of its own (narrow.css). */
export const NARROW = "(max-width: 799px), (max-height: 499px) and (pointer: coarse)";

/**
 * Follow the height that is really seen: a screen keyboard covers the rest, and not every browser
 * says so by the page's own size.
 */
export function followViewport(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const follow = () => {
    document.documentElement.style.setProperty("--seen-height", `${seen.height}px`);
  };
  seen.addEventListener("resize", follow);
  follow();
}

// How much space the window has.

/** The width below which the list is a separate page (narrow.css). */
export const NARROW = "(max-width: 799px), (max-height: 499px) and (pointer: coarse)";

/** The width below which a column beside the screen would leave too little of it (activity.css). */
export const CRAMPED = "(max-width: 1199px), (max-height: 499px) and (pointer: coarse)";

/**
 * Follow the height that is really visible: a screen keyboard covers the rest, and not every browser
 * shrinks the page for it.
 */
export function followViewport(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const follow = () => {
    // A pinch shows less of the page, and resizes nothing.
    const height = Math.round(seen.height * seen.scale);
    document.documentElement.style.setProperty("--seen-height", `${height}px`);
  };
  seen.addEventListener("resize", follow);
  follow();
}

// The height that is really seen: a screen keyboard covers the rest, and not every browser says so
// by the page's own size.

export function followViewport(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const follow = () => {
    document.documentElement.style.setProperty("--seen-height", `${seen.height}px`);
  };
  seen.addEventListener("resize", follow);
  follow();
}

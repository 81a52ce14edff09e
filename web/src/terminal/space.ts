// The space for cells inside an element, without its padding and the frame around the cells.

export function spaceOf(stage: HTMLElement): { width: number; height: number } {
  const frame = stage.querySelector(".frame");
  const edges = [stage, ...(frame ? [frame] : [])].map((one) => getComputedStyle(one));
  const taken = (...names: (keyof CSSStyleDeclaration)[]) =>
    edges
      .flatMap((style) => names.map((name) => parseFloat(String(style[name])) || 0))
      .reduce((sum, size) => sum + size, 0);
  const width = taken("paddingLeft", "paddingRight", "borderLeftWidth", "borderRightWidth");
  const height = taken("paddingTop", "paddingBottom", "borderTopWidth", "borderBottomWidth");
  const box = stage.getBoundingClientRect();
  return { width: box.width - width, height: box.height - height };
}

// Keeps text readable where its colour was not chosen for its background: on a light page, since
// programs and agents assume a dark one, and for element text without a colour. xterm.js does this
// for its own text (minimumContrastRatio).

const ENOUGH = 4.5; // WCAG 2.2, 1.4.3

/** Return a colour that is readable on a background: the given one if possible. */
export function readable(front: string, back: string): string {
  const behind = luminance(back);
  if (ratio(luminance(front), behind) >= ENOUGH) return front;
  return ratio(0, behind) > ratio(1, behind) ? "#000000" : "#ffffff";
}

/** Return a colour that is paler than another, and still readable on a background. */
export function paler(front: string, back: string): string {
  const [one, other] = [partsOf(front), partsOf(back)];
  const behind = luminance(back);
  for (const left of PALE) {
    const mixed = one.map((part, at) => Math.round(part * left + (other[at] ?? 0) * (1 - left)));
    const color = `rgb(${mixed.join(" ")})`;
    if (ratio(luminance(color), behind) >= ENOUGH) return color;
  }
  return readable(front, back);
}

const PALE = [0.6, 0.7, 0.8, 0.9]; // how much of the colour may be left

function ratio(one: number, other: number): number {
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}

function partsOf(color: string): number[] {
  if (!color.startsWith("#")) return (color.match(/\d+/g) ?? []).map(Number);
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

/** Relative luminance (WCAG 2.2) of #rrggbb or rgb(r g b). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

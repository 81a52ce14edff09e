// The terminal's colours, dark and light, and the colours of elements in CSS.

import type { ITheme } from "@xterm/xterm";

import type { WireColor } from "../wire/shapes";

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

export interface Palette {
  foreground: string;
  background: string;
  ansi: readonly string[]; // 16
  cursor: string;
  selection: string;
}

export const DARK: Palette = {
  foreground: "#dedcd6",
  background: "#0d0e11",
  cursor: "#d9d3f0",
  selection: "#4a4766",
  ansi: [
    "#24262c", "#d9626f", "#6aab7a", "#c9a34f", "#5484d6", "#a67bd0", "#4da3ae", "#d3d1cb",
    "#737680", "#f0939e", "#9fd4aa", "#e8cd8f", "#9bbcf2", "#cfb0ec", "#93d5dc", "#f7f5f0",
  ],
};

export const LIGHT: Palette = {
  foreground: "#23211e",
  background: "#fdfcf9",
  cursor: "#57508f",
  selection: "#d5d0ee",
  ansi: [
    "#2b2926", "#b4303f", "#2f7a43", "#8a6410", "#2f5ea8", "#7c479f", "#1c7480", "#aaa59c",
    "#6f6b64", "#cc4a58", "#3f9355", "#a47a1e", "#4476c4", "#955fb8", "#2f8c98", "#f3f0ea",
  ],
};

/** The theme for xterm.js, with the names that it uses. */
export function themeOf(palette: Palette): ITheme {
  const theme: Record<string, string> = {
    foreground: palette.foreground,
    background: palette.background,
    cursor: palette.cursor,
    cursorAccent: palette.background,
    selectionBackground: palette.selection,
    scrollbarSliderBackground: `${palette.foreground}26`,
    scrollbarSliderHoverBackground: `${palette.foreground}40`,
    scrollbarSliderActiveBackground: `${palette.foreground}59`,
  };
  NAMES.forEach((name, number) => {
    theme[name] = palette.ansi[number] ?? "";
    theme[`bright${name[0]?.toUpperCase()}${name.slice(1)}`] = palette.ansi[number + 8] ?? "";
  });
  return theme;
}

/** A colour in CSS, or null for the default. */
export function cssColor(color: WireColor | null | undefined, palette: Palette): string | null {
  if (color === null || color === undefined || color === "default") return null;
  if (typeof color !== "string") return `rgb(${color.r} ${color.g} ${color.b})`;
  const name = color.toLowerCase().replaceAll("-", "_");
  if (/^#[0-9a-f]{6}$/.test(name)) return name;
  const bright = name.startsWith("bright_");
  const index = NAMES.findIndex((one) => one === (bright ? name.slice(7) : name));
  if (index >= 0) return palette.ansi[index + (bright ? 8 : 0)] ?? null;
  const numbered = /^color(\d{1,3})$/.exec(name);
  return numbered ? indexed(Number(numbered[1]), palette) : null;
}

/** xterm's 256 colours: 16 of the palette, a cube of 6 by 6 by 6, 24 greys. */
function indexed(number: number, palette: Palette): string | null {
  if (number < 16) return palette.ansi[number] ?? null;
  if (number > 255) return null;
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40);
  const cube = number - 16;
  const red = level(Math.floor(cube / 36));
  const green = level(Math.floor(cube / 6) % 6);
  return `rgb(${red} ${green} ${level(cube % 6)})`;
}

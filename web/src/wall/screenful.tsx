// A session's screen as text, fitted to the width of its place.

import type { ReadonlySignal } from "@preact/signals";
import type { CSSProperties } from "preact";
import { memo } from "preact/compat";

import { scheme } from "../scheme";
import { paler, readable } from "../terminal/contrast";
import { cssColor, DARK, LIGHT, type Palette } from "../terminal/palette";
import type { Span } from "../wire/shapes";
import { withoutBlankEnd, type Thumbnail } from "./thumbnails";

export function Screenful({ thumbnail }: { thumbnail: ReadonlySignal<Thumbnail | null> }) {
  const shown = thumbnail.value;
  const palette = scheme.value === "light" ? LIGHT : DARK;
  const cols = shown?.cols ?? 80;
  const lines = shown ? withoutBlankEnd(shown.lines) : [];
  // Read by nobody aloud: it is a picture, and the session itself is one click away.
  return (
    <div class="screenful" aria-hidden="true" style={{ "--cols": cols } as CSSProperties}>
      <div class="screenful-rows">
        {lines.map((line, row) => <Row key={row} line={line} palette={palette} />)}
      </div>
    </div>
  );
}

/** A row is the same object until the daemon sends it again. */
const Row = memo(function Row({ line, palette }: { line: readonly Span[]; palette: Palette }) {
  return (
    <div>
      {line.map((span, at) => (
        <span key={at} style={styleOf(span, palette)}>
          {span.text}
        </span>
      ))}
    </div>
  );
});

function styleOf(span: Span, palette: Palette): CSSProperties {
  const fg = cssColor(span.fg, palette) ?? palette.foreground;
  const bg = cssColor(span.bg, palette);
  const [front, back] = span.inverse ? [bg ?? palette.background, fg] : [fg, bg];
  const behind = back ?? palette.background;
  const style: CSSProperties = {};
  const color = span.faint ? paler(front, behind) : readable(front, behind);
  if (color !== palette.foreground) style.color = color;
  if (back) style.background = back;
  if (span.bold) style.fontWeight = 700;
  if (span.italic) style.fontStyle = "italic";
  if (span.underline) style.textDecoration = "underline";
  if (span.invisible) style.visibility = "hidden";
  return style;
}

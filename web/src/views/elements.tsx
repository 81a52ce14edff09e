// Overlays and panels, drawn over and around the terminal, cell by cell.

import type { CSSProperties } from "preact";
import { useMemo } from "preact/hooks";

import { scheme } from "../scheme";
import type { OpenSession } from "../session/open";
import { paler, readable } from "../terminal/contrast";
import { layOut, type Run } from "../terminal/grid";
import { cssColor, DARK, LIGHT, type Palette } from "../terminal/palette";
import type { Fill, Overlay, Panel } from "../wire/shapes";

const colors = () => (scheme.value === "light" ? LIGHT : DARK);

export function Overlays({ open }: { open: OpenSession }) {
  const ordered = [...open.overlays.value].sort((a, b) => a.z - b.z);
  return (
    <div class="overlays">
      {ordered.map((overlay) => (
        <div
          key={overlay.id}
          class="overlay"
          role="group"
          aria-label={`Overlay ${overlay.id}`}
          data-id={overlay.id}
          data-focused={open.focused.value === overlay.id || undefined}
          style={placeOf(overlay)}
        >
          <Box element={overlay} width={overlay.width} />
        </div>
      ))}
    </div>
  );
}

/** The highest z is closest to the edge; for equal z, the older one. */
export function Panels({
  open,
  at,
  cols,
}: {
  open: OpenSession;
  at: "top" | "bottom";
  cols: number;
}) {
  const shown = open.panels.value
    .filter((panel) => panel.visible && panel.position === at)
    .sort((a, b) => b.z - a.z);
  if (!shown.length) return null;
  return (
    <div class={`panels ${at}`}>
      {(at === "top" ? shown : shown.reverse()).map((panel) => (
        <div
          key={panel.id}
          class="panel"
          role="group"
          aria-label={`Panel ${panel.id}`}
          data-id={panel.id}
          data-focused={open.focused.value === panel.id || undefined}
          style={{
            height: `calc(var(--cell-height) * ${panel.height})`,
            ...fillOf(panel.background),
          }}
        >
          <Box element={panel} width={cols} />
        </div>
      ))}
    </div>
  );
}

function Box({ element, width }: { element: Overlay | Panel; width: number }) {
  const palette = colors();
  const rows = useMemo(() => layOut(element, width, element.height), [element, width]);
  const fill = cssColor(backgroundOf(element.background), palette);
  return (
    <>
      {rows.map((runs, row) =>
        runs
          .filter((run) => isSeen(run))
          .map((run) => (
            <span key={`${row}:${run.col}`} class="run" style={runStyle(run, row, palette, fill)}>
              {run.text}
            </span>
          )),
      )}
    </>
  );
}

function isSeen({ text, style }: Run): boolean {
  const { bg, inverse, underline, strikethrough } = style;
  return text.trim() !== "" || Boolean(bg || inverse || underline || strikethrough);
}

function placeOf(overlay: Overlay): CSSProperties {
  return {
    left: `calc(var(--cell-width) * ${overlay.x})`,
    top: `calc(var(--cell-height) * ${overlay.y})`,
    width: `calc(var(--cell-width) * ${overlay.width})`,
    height: `calc(var(--cell-height) * ${overlay.height})`,
    ...fillOf(overlay.background),
  };
}

function backgroundOf(fill: Fill | null | undefined) {
  return typeof fill === "object" ? fill?.bg : fill;
}

function fillOf(fill: Fill | null | undefined): CSSProperties {
  const palette = colors();
  return { background: cssColor(backgroundOf(fill), palette) ?? palette.background };
}

function runStyle(run: Run, row: number, palette: Palette, fill: string | null): CSSProperties {
  const { style } = run;
  const front = cssColor(style.fg, palette) ?? palette.foreground;
  const back = cssColor(style.bg, palette);
  const [asked, background] = style.inverse
    ? [back ?? fill ?? palette.background, front]
    : [front, back];
  const behind = background ?? fill ?? palette.background;
  const color = style.faint ? paler(asked, behind) : readable(asked, behind);
  const lines = [style.underline && "underline", style.strikethrough && "line-through"];
  return {
    left: `calc(var(--cell-width) * ${run.col})`,
    top: `calc(var(--cell-height) * ${row})`,
    width: `calc(var(--cell-width) * ${run.cols})`,
    color,
    ...(background ? { background } : {}),
    ...(style.bold ? { fontWeight: 700 } : {}),
    ...(style.italic ? { fontStyle: "italic" } : {}),
    ...(lines.some(Boolean) ? { textDecorationLine: lines.filter(Boolean).join(" ") } : {}),
  };
}

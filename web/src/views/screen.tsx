// The terminal in its frame, with panels around it and overlays on it.

import type { RefObject } from "preact";

import { door } from "../daemon";
import type { OpenSession } from "../session/open";
import { FAMILY } from "../terminal/font";
import { pointedAt } from "../terminal/links";
import { Overlays, Panels } from "./elements";
import { Icon } from "./icons";

interface Props {
  stage: RefObject<HTMLDivElement | null>;
  host: RefObject<HTMLDivElement | null>;
  open: OpenSession | null;
}

export function Screen({ stage, host, open }: Props) {
  const viewport = open?.viewport;
  const cell = viewport?.cell.value ?? { width: 8, height: 16 };
  const style = {
    "--cell-width": `${cell.width}px`,
    "--cell-height": `${cell.height}px`,
    "--cell-gap": `${viewport?.gap.value ?? 0}px`,
    fontFamily: FAMILY,
    fontSize: `${viewport?.size.value ?? 14}px`,
  };
  const cols = open?.emulator.terminal.cols ?? 80;
  return (
    <div
      class="stage"
      ref={stage}
      data-drawn={open?.drawn.value || undefined}
      data-yours={open?.lease.yours.value || undefined}
      data-captured={open?.captured.value || undefined}
      data-bell={open?.bell.value || undefined}
      data-dim={(open && (open.silent || open.dropping !== null)) || undefined}
    >
      <div class="frame" style={style}>
        {open && <Panels open={open} at="top" cols={cols} />}
        <div class="pty">
          <div class="host" ref={host} />
          {open && <Overlays open={open} />}
        </div>
        {open && <Panels open={open} at="bottom" cols={cols} />}
      </div>
      {open?.feed.waits.value && (
        <button class="to-now" onClick={() => open.feed.toNow()}>
          <Icon name="down" /> Newer output below
        </button>
      )}
      {open && isAlone(open) && (
        <p class="stage-note" role="status">
          Reconnecting…
        </p>
      )}
      {pointedAt.value && <p class="pointed-at">{pointedAt.value}</p>}
    </div>
  );
}

/** Shown if only this terminal's socket is gone; if all are, the page says so. */
function isAlone(open: OpenSession): boolean {
  const lost = open.raw.value?.state.value === "opening" && open.drawn.value && !open.silent;
  return lost && door.value?.state.value === "open";
}

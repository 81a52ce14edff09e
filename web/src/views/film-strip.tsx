// Small pictures of a recording, left to right; a click goes there, the one of now is framed.

import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Player } from "../cast/player";
import { drawTile, type Tile } from "../cast/tile";
import { palette } from "../terminal/emulator";
import { clock } from "../words";

const HEIGHT = 45; // CSS pixels of a tile, as Playwright's trace viewer has it
const EACH = 4; // of so many pictures one is in the strip; the timeline shows all of them

/** Pictures of a recording, at moments at equal distances; those at the end may be missing yet. */
export interface Previews {
  moments: readonly number[];
  tiles: readonly Tile[];
}

export function FilmStrip({ player, previews }: { player: Player; previews: Previews }) {
  const shown = previews.moments
    .map((moment, number) => ({ moment, tile: previews.tiles[number] }))
    .filter((_, number) => number % EACH === 0);
  const now = shown.filter(({ moment }) => moment <= player.time.value).length - 1;
  return (
    <div class="film" role="group" aria-label="Film strip" onKeyDown={among}>
      {shown.map(({ moment, tile }, number) => {
        const when = clock(player.clock.value.toShown(moment));
        return (
          <button
            key={number}
            class="film-tile"
            aria-current={number === now || undefined}
            aria-label={`Go to ${when}`}
            title={when}
            tabIndex={number === Math.max(0, now) ? 0 : -1}
            onClick={() => player.seek(moment)}
          >
            {tile && <Picture tile={tile} height={HEIGHT} />}
          </button>
        );
      })}
    </div>
  );
}

/** For Tab the strip is one stop, at the picture of now; arrow keys go along it. */
function among(event: TargetedKeyboardEvent<HTMLElement>): void {
  const tiles = [...event.currentTarget.children] as HTMLElement[];
  const at = tiles.indexOf(document.activeElement as HTMLElement);
  const ends: Record<string, number> = { Home: 0, End: tiles.length - 1, ArrowLeft: at - 1, ArrowRight: at + 1 };
  const next = ends[event.key];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  event.stopPropagation(); // elsewhere these keys move the replay
  tiles[next]?.focus();
}

/** What is shown above the timeline: the picture of the moment under the pointer. */
export function Preview({ player, previews, shown, left }: {
  player: Player;
  previews: Previews;
  shown: number;
  left: string;
}) {
  const moment = player.clock.value.toReal(shown);
  const number = previews.moments.filter((one) => one <= moment).length - 1;
  const tile = previews.tiles[Math.max(0, number)];
  if (!tile) return null;
  return (
    <div class="preview" style={{ left }} aria-hidden="true">
      <Picture tile={tile} height={135} />
      <span>{clock(shown)}</span>
    </div>
  );
}

function Picture({ tile, height }: { tile: Tile; height: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colors = palette();
  useEffect(() => {
    if (canvas.current) drawTile(canvas.current, tile, colors);
  }, [tile, colors, height]);
  const width = Math.round((height * tile.cols) / (tile.rows * 2));
  return <canvas ref={canvas} width={width * 2} height={height * 2} aria-hidden="true" />;
}

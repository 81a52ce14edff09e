// The position of a replay and where its commands start; click or drag to go somewhere.

import { useSignal } from "@preact/signals";
import type { TargetedPointerEvent } from "preact";

import { entryNear, type Entry } from "../activity/entries";
import type { Player } from "../cast/player";
import type { Marker, Recording } from "../cast/recording";
import { clock } from "../words";
import { Preview, type Previews } from "./film-strip";

interface Props {
  player: Player;
  recording: Recording;
  previews: Previews;
  chapters: readonly Entry[];
}

export function Timeline({ player, recording, previews, chapters }: Props) {
  const pointed = useSignal<number | null>(null); // the share of the width under the pointer
  const clocks = player.clock.value;
  const { duration } = clocks;
  const part = (time: number) => `${duration ? (clocks.toShown(time) / duration) * 100 : 0}%`;

  function seekTo(event: TargetedPointerEvent<HTMLDivElement>): void {
    const box = event.currentTarget.getBoundingClientRect();
    player.seekShown(((event.clientX - box.left) / box.width) * duration);
  }

  return (
    <div
      class="timeline"
      role="slider"
      tabIndex={0}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.round(duration)}
      aria-valuenow={Math.round(player.now)}
      aria-valuetext={`${clock(player.now)} of ${clock(duration)}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerLeave={() => (pointed.value = null)}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        pointed.value = Math.min(Math.max(0, (event.clientX - box.left) / box.width), 1);
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
      }}
    >
      <div class="timeline-track">
        <div class="timeline-done" style={{ width: part(player.time.value) }} />
      </div>
      {recording.markers.map((marker, number) => (
        <span
          key={number}
          class="marker"
          data-bad={(marker.label !== "" && marker.label !== "0") || undefined}
          style={{ left: part(marker.time) }}
          title={titleOf(
            marker,
            entryNear(chapters, recording.began + marker.time)?.command ?? `command ${number + 1}`,
            clocks.toShown(marker.time),
          )}
        />
      ))}
      {pointed.value !== null && (
        <Preview
          player={player}
          previews={previews}
          shown={pointed.value * duration}
          left={`${pointed.value * 100}%`}
        />
      )}
      <div class="timeline-now" style={{ left: part(player.time.value) }} />
    </div>
  );
}

function titleOf(marker: Marker, command: string, shown: number): string {
  const code = marker.label && `, exit ${marker.label}`;
  return `${clock(shown)}: ${command}${code}`;
}

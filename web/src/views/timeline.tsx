// The position of a replay and where its commands start; click or drag to go somewhere.

import type { TargetedPointerEvent } from "preact";

import type { Player } from "../cast/player";
import type { Marker, Recording } from "../cast/recording";
import { clock } from "../words";

export function Timeline({ player, recording }: { player: Player; recording: Recording }) {
  const { duration } = recording;
  const part = (time: number) => `${duration ? (time / duration) * 100 : 0}%`;

  function seekTo(event: TargetedPointerEvent<HTMLDivElement>): void {
    const box = event.currentTarget.getBoundingClientRect();
    player.seek(((event.clientX - box.left) / box.width) * duration);
  }

  return (
    <div
      class="timeline"
      role="slider"
      tabIndex={0}
      aria-label="Position in the recording"
      aria-valuemin={0}
      aria-valuemax={Math.round(duration)}
      aria-valuenow={Math.round(player.time.value)}
      aria-valuetext={`${clock(player.time.value)} of ${clock(duration)}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => {
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
          title={titleOf(marker, number)}
        />
      ))}
      <div class="timeline-now" style={{ left: part(player.time.value) }} />
    </div>
  );
}

function titleOf(marker: Marker, number: number): string {
  const code = marker.label && `, exit ${marker.label}`;
  return `${clock(marker.time)}: command ${number + 1}${code}`;
}

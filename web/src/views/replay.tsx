// The replay of a session, ended or not.

import { effect, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { Keyframes } from "../cast/keyframes";
import { Player, SPEEDS } from "../cast/player";
import { Pauses } from "../cast/pauses";
import { readCast, type Recording } from "../cast/recording";
import { hrefOf } from "../route";
import { find } from "../sessions";
import { createEmulator, themed } from "../terminal/emulator";
import { loadFont, sizeThatFits } from "../terminal/font";
import { spaceOf } from "../terminal/space";
import { call } from "../wire/api";
import type { Recording as Exported } from "../wire/shapes";
import { clock } from "../words";
import { FilmStrip, type Previews } from "./film-strip";
import { Icon } from "./icons";
import { Timeline } from "./timeline";

const MOST_CHARS = 64 << 20; // of a recording that the page loads; longer ones are for nacre replay
const PREVIEWS = 48; // moments of which there is a picture

type Loaded = { text: string; began: number | undefined } | { problem: string } | null;

interface Props {
  reference: string;
  moment: number | undefined; // to begin at, in seconds since the epoch
}

export function ReplayView({ reference, moment }: Props) {
  const loaded = useSignal<Loaded>(null);
  const name = find(reference)?.name ?? reference;

  useEffect(() => {
    const stop = new AbortController();
    void load(reference, stop.signal).then(
      (answer) => (loaded.value = { text: answer.recording ?? "", began: answer.began }),
      (error: unknown) => {
        if (!stop.signal.aborted) loaded.value = { problem: String((error as Error).message) };
      },
    );
    return () => stop.abort();
  }, []);

  return (
    <main class="main session replay" aria-label={`Replay of ${name}`}>
      <header class="bar">
        <a
          class="bar-back always icon-only"
          href={hrefOf({ view: "session", session: reference })}
          aria-label="Back to the session"
        >
          <Icon name="back" />
        </a>
        <div class="bar-what">
          <h1>{name}</h1>
          <p>
            <span class="chip" data-tone="over">
              Replay
            </span>
          </p>
        </div>
        {loaded.value && "text" in loaded.value && (
          <button class="quiet" onClick={() => save(`${name}.cast`, loaded.value)}>
            <Icon name="down" /> Save recording
          </button>
        )}
      </header>
      <Body loaded={loaded.value} moment={moment} />
    </main>
  );
}

async function load(reference: string, stop: AbortSignal): Promise<Exported> {
  const path = `api/sessions/${encodeURIComponent(reference)}/recording`;
  return (await call(path, { markers: true, max_chars: MOST_CHARS }, stop)) as Exported;
}

/** Save it as a file: an asciicast, which asciinema and many others play. */
function save(name: string, loaded: Loaded): void {
  if (!loaded || !("text" in loaded)) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([loaded.text], { type: "application/x-asciicast" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function Body({ loaded, moment }: { loaded: Loaded; moment: number | undefined }) {
  const recording = useMemo(
    () => (loaded && "text" in loaded ? readCast(loaded.text, loaded.began) : null),
    [loaded],
  );
  if (loaded === null) return <p class="replay-note">Loading the recording…</p>;
  if ("problem" in loaded) return <p class="replay-note">There is no replay: {loaded.problem}.</p>;
  if (!recording?.events.length) return <p class="replay-note">Nothing has been printed yet.</p>;
  return <Playing recording={recording} moment={moment} />;
}

/** Moments at equal distances on the clock from which pauses are cut. */
function momentsOf(recording: Recording): number[] {
  const times = recording.events.map((event) => event.time);
  const clock = new Pauses(times, recording.duration, 2);
  const step = clock.duration / (PREVIEWS - 1);
  return Array.from({ length: PREVIEWS }, (_, at) => clock.toReal(step * at));
}

function Playing({ recording, moment }: { recording: Recording; moment: number | undefined }) {
  const stage = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const player = useSignal<Player | null>(null);
  const moments = useMemo(() => momentsOf(recording), [recording]);
  const keyframes = useMemo(() => new Keyframes(recording, moments), [recording]);

  useEffect(() => {
    let close = () => undefined as void;
    let wanted = true;
    void loadFont().then(() => {
      if (!wanted || !stage.current || !host.current) return;
      close = start(stage.current, host.current, recording, keyframes, player);
      if (moment !== undefined) player.value?.seek(moment - recording.began);
      else player.value?.play();
      void keyframes.make();
    });
    return () => {
      wanted = false;
      close();
      keyframes.close();
    };
  }, []);

  // Another moment of the same session: a hit of the search.
  useEffect(() => {
    if (moment === undefined || !player.value) return;
    player.value.pause();
    player.value.seek(moment - recording.began);
  }, [moment]);

  useEffect(() => {
    const keys = (event: KeyboardEvent) => player.value && press(event, player.value, recording);
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  const previews = { moments, tiles: keyframes.tiles.value };
  return (
    <>
      <div class="stage" ref={stage} data-drawn>
        <div class="frame">
          <div class="host" ref={host} />
        </div>
      </div>
      {player.value && (
        <FilmStrip player={player.value} previews={previews} />
      )}
      {player.value && (
        <Controls player={player.value} recording={recording} previews={previews} />
      )}
    </>
  );
}

function start(
  stage: HTMLElement,
  host: HTMLElement,
  recording: Recording,
  keyframes: Keyframes,
  player: Signal<Player | null>,
): () => void {
  const emulator = createEmulator(host, { scrollback: 0 });
  const { terminal } = emulator;
  terminal.options.disableStdin = true;
  const scale = () => {
    const size = sizeThatFits(spaceOf(stage), terminal.rows, terminal.cols, emulator);
    if (terminal.options.fontSize !== size) Object.assign(terminal.options, { fontSize: size });
  };
  const unfollow = effect(() => void Object.assign(terminal.options, themed()));
  const observer = new ResizeObserver(scale);
  observer.observe(stage);
  const made = new Player(terminal, recording, scale, (time) => keyframes.before(time));
  player.value = made;
  return () => {
    unfollow();
    observer.disconnect();
    made.close();
    terminal.dispose();
  };
}

interface ControlsProps {
  player: Player;
  recording: Recording;
  previews: Previews;
}

function Controls({ player, recording, previews }: ControlsProps) {
  const playing = player.playing.value;
  return (
    <div class="player" role="group" aria-label="Replay">
      <button
        class="icon-only player-play"
        aria-label={playing ? "Pause" : "Play"}
        title={playing ? "Pause (Space)" : "Play (Space)"}
        onClick={() => player.toggle()}
      >
        <Icon name={playing ? "pause" : "play"} />
      </button>
      <span class="player-time">
        {clock(player.now)} <span>/ {clock(player.clock.value.duration)}</span>
      </span>
      <Timeline player={player} recording={recording} previews={previews} />
      <label class="player-cut" title="Shorten pauses to 2 seconds">
        <input
          type="checkbox"
          checked={player.cut.value}
          onChange={(event) => (player.cut.value = event.currentTarget.checked)}
        />
        Cut pauses
      </label>
      <select
        aria-label="Speed"
        value={String(player.speed.value)}
        onChange={(event) => (player.speed.value = Number(event.currentTarget.value))}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={String(speed)}>
            {speed}×
          </option>
        ))}
      </select>
    </div>
  );
}

function press(event: KeyboardEvent, player: Player, recording: Recording): void {
  const target = event.target as HTMLElement;
  if (target.closest("input:not([type=checkbox]), select, dialog, [role=menu], .sidebar")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const on = (seconds: number) => player.seekShown(player.now + seconds);
  const ours: Record<string, () => void> = {
    " ": () => player.toggle(),
    k: () => player.toggle(),
    ArrowLeft: () => on(-5),
    ArrowRight: () => on(5),
    "[": () => player.step(-1),
    "]": () => player.step(1),
    "<": () => player.quicken(-1),
    ">": () => player.quicken(1),
    Home: () => player.seek(0),
    End: () => player.seek(recording.duration),
  };
  const digit = /^\d$/.test(event.key) ? Number(event.key) / 10 : null;
  const action = digit === null ? ours[event.key] : () => player.seekShown(player.clock.value.duration * digit);
  if (!action || (event.key === " " && target.closest("button, [type=checkbox]"))) return;
  event.preventDefault();
  action();
}

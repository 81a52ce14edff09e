// The replay of a session, ended or not.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Player, SPEEDS } from "../cast/player";
import { readCast, type Recording } from "../cast/recording";
import { hrefOf } from "../route";
import { find } from "../sessions";
import { createEmulator, themed } from "../terminal/emulator";
import { loadFont, sizeThatFits } from "../terminal/font";
import { spaceOf } from "../terminal/space";
import { call } from "../wire/api";
import type { Recording as Exported } from "../wire/shapes";
import { clock } from "../words";
import { Icon } from "./icons";
import { Timeline } from "./timeline";

const MOST_CHARS = 64 << 20; // of a recording that the page loads; longer ones are for nacre replay
const LONGEST_PAUSE = 2; // seconds, while pauses are cut

type Loaded = { text: string } | { problem: string } | null;

export function ReplayView({ reference }: { reference: string }) {
  const loaded = useSignal<Loaded>(null);
  const cut = useSignal(true);
  const name = find(reference)?.name ?? reference;

  useEffect(() => {
    const stop = new AbortController();
    void load(reference, stop.signal).then(
      (text) => (loaded.value = { text }),
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
      </header>
      <Body loaded={loaded.value} cut={cut} />
    </main>
  );
}

async function load(reference: string, stop: AbortSignal): Promise<string> {
  const path = `api/sessions/${encodeURIComponent(reference)}/recording`;
  const answer = await call(path, { markers: true, max_chars: MOST_CHARS }, stop);
  return (answer as Exported).recording ?? "";
}

function Body({ loaded, cut }: { loaded: Loaded; cut: Signal<boolean> }) {
  if (loaded === null) return <p class="replay-note">Loading the recording…</p>;
  if ("problem" in loaded) return <p class="replay-note">There is no replay: {loaded.problem}.</p>;
  const recording = readCast(loaded.text, cut.value ? LONGEST_PAUSE : Infinity);
  if (!recording.events.length) return <p class="replay-note">Nothing has been printed yet.</p>;
  return <Playing key={String(cut.value)} recording={recording} cut={cut} />;
}

function Playing({ recording, cut }: { recording: Recording; cut: Signal<boolean> }) {
  const stage = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const player = useSignal<Player | null>(null);

  useEffect(() => {
    let close = () => undefined as void;
    let wanted = true;
    void loadFont().then(() => {
      if (!wanted || !stage.current || !host.current) return;
      close = start(stage.current, host.current, recording, player);
    });
    return () => {
      wanted = false;
      close();
    };
  }, []);

  useEffect(() => {
    const keys = (event: KeyboardEvent) => player.value && press(event, player.value, recording);
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  return (
    <>
      <div class="stage" ref={stage} data-drawn>
        <div class="frame">
          <div class="host" ref={host} />
        </div>
      </div>
      {player.value && <Controls player={player.value} recording={recording} cut={cut} />}
    </>
  );
}

function start(
  stage: HTMLElement,
  host: HTMLElement,
  recording: Recording,
  player: Signal<Player | null>,
): () => void {
  const emulator = createEmulator(host, { scrollback: 0 });
  const { terminal } = emulator;
  terminal.options.disableStdin = true;
  const scale = () => {
    const size = sizeThatFits(spaceOf(stage), terminal.rows, terminal.cols, emulator);
    if (terminal.options.fontSize !== size) Object.assign(terminal.options, { fontSize: size });
  };
  Object.assign(terminal.options, themed());
  const observer = new ResizeObserver(scale);
  observer.observe(stage);
  const made = new Player(terminal, recording, scale);
  player.value = made;
  made.play();
  return () => {
    observer.disconnect();
    made.close();
    terminal.dispose();
  };
}

interface ControlsProps {
  player: Player;
  recording: Recording;
  cut: Signal<boolean>;
}

function Controls({ player, recording, cut }: ControlsProps) {
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
        {clock(player.time.value)} <span>/ {clock(recording.duration)}</span>
      </span>
      <Timeline player={player} recording={recording} />
      <label class="player-cut" title="Shorten pauses to 2 seconds">
        <input
          type="checkbox"
          checked={cut.value}
          onChange={(event) => (cut.value = event.currentTarget.checked)}
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
  const on = (seconds: number) => player.seek(player.time.value + seconds);
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
  const action = digit === null ? ours[event.key] : () => player.seek(recording.duration * digit);
  if (!action || (event.key === " " && target.closest("button, [type=checkbox]"))) return;
  event.preventDefault();
  action();
}

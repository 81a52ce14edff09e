// The replay of a session, ended or not.

import { effect, useSignal, type Signal } from "@preact/signals";
import type { SearchAddon } from "@xterm/addon-search";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { chapterAt, type Entry, type Listed } from "../activity/entries";
import { activityOf } from "../activity/list";
import { activityShown, showActivity } from "../activity/shown";
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
import { ActivityColumn } from "./activity";
import { FilmStrip, type Previews } from "./film-strip";
import { Icon } from "./icons";
import { Menu } from "./menu";
import { ReplaySearch } from "./replay-search";
import { films, saving } from "./saving";
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
  const chapters = useSignal<Listed | null>(null);
  const searching = useSignal(false);
  const name = find(reference)?.name ?? reference;

  useEffect(() => {
    const stop = new AbortController();
    void load(reference, stop.signal).then(
      (answer) => (loaded.value = { text: answer.recording ?? "", began: answer.began }),
      (error: unknown) => {
        if (!stop.signal.aborted) loaded.value = { problem: String((error as Error).message) };
      },
    );
    void activityOf(reference).then((found) => (chapters.value = found));
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
          <>
            {films.value > 0 && (
              <span class="replay-filming" role="status">
                Making the film…
              </span>
            )}
            <button
              class="icon-only"
              title="Find in the recording (f)"
              aria-label="Find in the recording"
              onClick={() => (searching.value = true)}
            >
              <Icon name="search" />
            </button>
            <button
              class="icon-only"
              title="Chapters: the commands that ran"
              aria-label="Chapters"
              aria-pressed={activityShown.value}
              onClick={() => showActivity(!activityShown.value)}
            >
              <Icon name="list" />
            </button>
            <Menu label="Save" icon="down" actions={saving(reference, name, loaded.value.text)} />
          </>
        )}
      </header>
      <Body
        loaded={loaded.value}
        moment={moment}
        session={reference}
        chapters={chapters.value}
        searching={searching}
      />
    </main>
  );
}

async function load(reference: string, stop: AbortSignal): Promise<Exported> {
  const path = `api/sessions/${encodeURIComponent(reference)}/recording`;
  return (await call(path, { markers: true, max_chars: MOST_CHARS }, stop)) as Exported;
}

interface BodyProps {
  loaded: Loaded;
  moment: number | undefined;
  session: string;
  chapters: Listed | null;
  searching: Signal<boolean>;
}

function Body({ loaded, ...more }: BodyProps) {
  const recording = useMemo(
    () => (loaded && "text" in loaded ? readCast(loaded.text, loaded.began) : null),
    [loaded],
  );
  if (loaded === null) return <p class="replay-note">Loading the recording…</p>;
  if ("problem" in loaded) return <p class="replay-note">There is no replay: {loaded.problem}.</p>;
  if (!recording?.events.length) return <p class="replay-note">Nothing has been printed yet.</p>;
  return <Playing recording={recording} {...more} />;
}

/** Moments at equal distances on the clock from which pauses are cut. */
function momentsOf(recording: Recording): number[] {
  const times = recording.events.map((event) => event.time);
  const clock = new Pauses(times, recording.duration, 2);
  const step = clock.duration / (PREVIEWS - 1);
  return Array.from({ length: PREVIEWS }, (_, at) => clock.toReal(step * at));
}

interface PlayingProps extends Omit<BodyProps, "loaded"> {
  recording: Recording;
}

function Playing({ recording, moment, session, chapters, searching }: PlayingProps) {
  const stage = useRef<HTMLDivElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const player = useSignal<Player | null>(null);
  const finder = useRef<SearchAddon>(null);
  const moments = useMemo(() => momentsOf(recording), [recording]);
  const keyframes = useMemo(() => new Keyframes(recording, moments), [recording]);

  useEffect(() => {
    let close = () => undefined as void;
    let wanted = true;
    void loadFont().then(() => {
      if (!wanted || !stage.current || !host.current) return;
      close = start(stage.current, host.current, recording, keyframes, player, finder);
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
    const keys = (event: KeyboardEvent) =>
      player.value && press(event, player.value, recording, () => (searching.value = true));
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  const previews = { moments, tiles: keyframes.tiles.value };
  const entries = chapters?.entries ?? [];
  return (
    <>
      {searching.value && player.value && finder.current && (
        <ReplaySearch
          session={session}
          player={player.value}
          recording={recording}
          search={finder.current}
          close={() => (searching.value = false)}
        />
      )}
      <div class="beside">
        <div class="stage" ref={stage} data-drawn>
          <div class="frame">
            <div class="host" ref={host} />
          </div>
        </div>
        {activityShown.value && player.value && (
          <Chapters player={player.value} recording={recording} session={session} listed={chapters} />
        )}
      </div>
      {player.value && (
        <FilmStrip player={player.value} previews={previews} />
      )}
      {player.value && (
        <Controls player={player.value} recording={recording} previews={previews} chapters={entries} />
      )}
    </>
  );
}

interface ChaptersProps {
  player: Player;
  recording: Recording;
  session: string;
  listed: Listed | null;
}

/** The commands as chapters: those that the recording has. */
function Chapters({ player, recording, session, listed }: ChaptersProps) {
  const end = recording.began + recording.duration;
  const entries = listed?.entries?.filter(
    (one) => one.started >= recording.began - 0.5 && one.started <= end + 0.5,
  );
  return (
    <ActivityColumn
      title="Chapters"
      session={session}
      entries={listed ? (entries ?? []) : null}
      earlier={listed?.earlier ?? false}
      current={chapterAt(entries ?? [], recording.began + player.time.value)?.id}
      go={(entry) => player.seek(entry.started - recording.began)}
      leave={() => document.querySelector<HTMLElement>(".player-play")?.focus()}
    />
  );
}

function start(
  stage: HTMLElement,
  host: HTMLElement,
  recording: Recording,
  keyframes: Keyframes,
  player: Signal<Player | null>,
  finder: RefObject<SearchAddon | null>,
): () => void {
  const emulator = createEmulator(host, { scrollback: 0 });
  const { terminal } = emulator;
  terminal.options.disableStdin = true;
  // Nothing is typed here: Tab goes on to the controls, and the replay's own keys work on a click, too.
  terminal.attachCustomKeyEventHandler(() => false);
  if (terminal.textarea) terminal.textarea.tabIndex = -1;
  finder.current = emulator.search;
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
  chapters: readonly Entry[];
}

function Controls({ player, recording, previews, chapters }: ControlsProps) {
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
      <Timeline player={player} recording={recording} previews={previews} chapters={chapters} />
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

function press(event: KeyboardEvent, player: Player, recording: Recording, find: () => void): void {
  const target = event.target as HTMLElement;
  if (target.closest("input:not([type=checkbox]), select, dialog, [role=menu], .sidebar")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const on = (seconds: number) => player.seekShown(player.now + seconds);
  const ours: Record<string, () => void> = {
    " ": () => player.toggle(),
    k: () => player.toggle(),
    f: find,
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

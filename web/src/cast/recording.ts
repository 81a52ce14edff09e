// A recording as the daemon exports it: an asciicast of version 3, whose times are intervals.
// Rule: times are those of the session. What shortens pauses is pauses.ts, so that it can change
// while the recording plays.

export interface CastEvent {
  time: number; // seconds since the beginning
  code: "o" | "r";
  data: string;
}

export interface Marker {
  time: number;
  label: string; // the exit code of the command that begins here, or nothing
}

export interface Recording {
  cols: number;
  rows: number;
  began: number; // seconds since the epoch
  duration: number;
  events: CastEvent[];
  markers: Marker[];
  exit: string | null;
}

interface Header {
  version: number;
  term: { cols: number; rows: number };
  timestamp?: number;
}

type Line = [interval: number, code: string, data: string];

/** Read a recording; `began` is exacter than its header. Raises Error if the text is not one. */
export function readCast(text: string, began?: number): Recording {
  const [first, ...rest] = text.split("\n").filter((line) => line && !line.startsWith("#"));
  const header = JSON.parse(first ?? "null") as Header | null;
  if (header?.version !== 3) throw new Error("this is no recording that the page can play");
  const recording: Recording = {
    cols: header.term.cols,
    rows: header.term.rows,
    began: began ?? header.timestamp ?? 0,
    duration: 0,
    events: [],
    markers: [],
    exit: null,
  };
  for (const line of rest) add(recording, JSON.parse(line) as Line);
  return recording;
}

function add(recording: Recording, [interval, code, data]: Line): void {
  recording.duration += interval;
  const time = recording.duration;
  if (code === "o" || code === "r") recording.events.push({ time, code, data });
  else if (code === "m") recording.markers.push({ time, label: data });
  else if (code === "x") recording.exit = data;
}

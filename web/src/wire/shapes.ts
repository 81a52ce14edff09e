// The messages to and from the daemon, with their fields as on the wire.

import type { Entry } from "../activity/entries";

export type StateName = "prompt" | "running" | "needs_input" | "exited" | "lost";

export interface LastCommand {
  command: string;
  started: number; // seconds since the epoch, by the daemon's clock
  ended: number | null;
  exit_code: number | null;
}

export interface SessionSummary {
  name: string;
  session_id: string;
  port: number;
  command: string;
  cwd: string;
  rows: number;
  cols: number;
  running: boolean;
  exit_code: number | null;
  signal: string | null;
  idle_seconds: number;
  created: number;
  title: string;
  state: StateName;
  asks: string | null;
  tags: string[];
  notice?: string | null;
  driver?: string | null;
  viewers?: number;
  last_line?: string;
  question?: string | null;
  last_command?: LastCommand | null;
  ended?: number | null;
  line?: number | null;
  host?: string; // in a cluster
}

export interface ClusterHost {
  host: string;
  state: "up" | "suspect" | "lost" | "left";
  here: boolean;
  sessions: number;
  capacity: number;
  draining: boolean;
  labels: string[];
  version: string;
  compatible: boolean;
}

export type WireColor = string | { r: number; g: number; b: number };

export interface Styled {
  fg?: WireColor | null;
  bg?: WireColor | null;
  bold?: boolean;
  italic?: boolean;
  underline?: boolean;
  faint?: boolean;
  inverse?: boolean;
  strikethrough?: boolean;
}

/** A part of a row, as the daemon reads it from its screen. */
export interface Span extends Styled {
  text: string;
  invisible?: boolean;
}

export interface VisualSpan extends Styled {
  text: string;
  id?: string;
}

export interface RegionWrite extends Styled {
  row: number;
  col: number;
  text: string;
}

export type Fill = string | { bg: WireColor };

interface Element {
  id: string;
  z: number;
  height: number;
  spans: VisualSpan[];
  region_writes?: RegionWrite[];
  background?: Fill | null;
  focusable: boolean;
}

export interface Overlay extends Element {
  x: number;
  y: number;
  width: number;
}

export interface Panel extends Element {
  position: "top" | "bottom";
  visible: boolean;
}

export interface Handover {
  driver: string;
  seconds: number;
  keys: number;
  commands: { command: string | null; exit_code: number | null }[];
  last_line: string;
}

export interface Control {
  driver: string | null;
  since?: number | null;
  waiting_since?: number | null;
  yours: boolean;
  handover?: Handover | null;
}

interface OfSession {
  session: string;
  session_id: string;
  seq?: number;
}

export type InputMode = "passthrough" | "capture";

export interface SessionSync extends OfSession {
  event: "sync";
  overlays: Overlay[];
  panels: Panel[];
  input_mode: InputMode;
  focused_element: string | null;
  driver: string | null;
}

export interface ListSync {
  event: "sync";
  sessions: SessionSummary[];
}

export type ApprovalAnswer = "once" | "session" | "save" | "deny" | "text" | "yes" | "no";

/** A question that the policy, or a program, asks people. */
export interface Approval {
  id: string;
  kind: "command" | "password" | "confirm";
  command: string;
  session: string | null;
  session_id: string | null;
  cwd: string | null;
  policy: string;
  asked_by: string;
  reasons: string[];
  rule: string | null;
  answers: ApprovalAnswer[];
  asked: number;
  expires: number;
  waiting: boolean;
}

export type Event =
  | {
      event: "approval";
      status: "asked" | "answered" | "expired" | "left";
      approval: Approval;
    }
  | SessionSync
  | ListSync
  | (OfSession & { event: "visuals"; overlays: Overlay[]; panels: Panel[]; mode: "normal" | "alt" })
  | (OfSession & {
      event: "control";
      driver: string | null;
      since: number | null;
      waiting_since: number | null;
      handover?: Handover | null;
    })
  | (OfSession & {
      event: "state";
      state: StateName;
      asks: string | null;
      last_line: string;
      title: string;
      cwd: string;
      question: string | null;
      last_command: LastCommand | null;
      line: number | null;
    })
  | (OfSession & { event: "session"; change: Change; details: SessionSummary | null })
  | (OfSession & {
      event: "run";
      status: "started" | "ended";
      command: string | null;
      exit_code: number | null;
      duration_ms: number | null;
      entry?: Entry | null;
    })
  | (OfSession & { event: "mode"; mode: string; focused_element?: string | null })
  | (OfSession & { event: "input"; focused_element: string | null })
  | (OfSession & { event: "changed"; generation: number })
  | (OfSession & {
      event: "thumbnail";
      rows: number;
      cols: number;
      cursor: { row: number; col: number; visible: boolean };
      lines: [row: number, line: Span[]][];
    })
  | { event: "daemon"; warnings: string[] }
  | { event: "hosts"; hosts: ClusterHost[] }
  | { event: "lagged"; dropped: number };

export type Change =
  "created" | "ended" | "renamed" | "restarted" | "removed" | "resized" | "watched" | "notice";

/** Text frames of the raw door. */
export type RawEvent =
  | {
      event: "snapshot";
      rows: number;
      cols: number;
      alternate: boolean;
      history_lines: number;
      line: number;
    }
  | { event: "resized"; rows: number; cols: number; by?: string; given_back?: boolean }
  | { event: "beat"; beat: number; got?: number }
  | {
      event: "typing";
      taken: number;
      received: number;
      unsure: boolean;
      dropped: boolean;
      beat_ms: number;
      silence_ms: number;
    }
  | { event: "taken"; number: number }
  | { event: "dropped"; number: number; why: string }
  | { event: "detached"; message: string }
  | { event: "ended"; exit_code: number | null; signal: string | null }
  | { event: "error"; error: WireError };

export interface WireError {
  code: string | number;
  message: string;
}

export interface Film {
  frames: number;
  omitted_frames?: number;
  data: string; // base64 of a GIF; an SVG as it is
}

export interface Recording {
  session: string;
  events: number;
  size: number;
  recording?: string;
  began?: number; // seconds since the epoch
}

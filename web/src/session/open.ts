// The session that is open: its terminal, what is drawn around it, who drives.
// Rule: it makes no screen itself; everything it shows comes from the daemon.

import { effect, signal } from "@preact/signals";

import { visible } from "../attention/calls";
import { before } from "../attention/seen";
import { door } from "../daemon";
import { createEmulator, themed, type Emulator } from "../terminal/emulator";
import { Feed } from "../terminal/feed";
import { complain, note } from "../toasts";
import { looking, onlyLooks, onlyWatches } from "../wire/api";
import { RawDoor, SCROLLBACK } from "../wire/raw-door";
import type { Event, Overlay, Panel, RawEvent } from "../wire/shapes";
import { nameOf } from "../words";
import { harmless, takePageKeys, withModifiers, type PageKeys } from "./keyboard";
import { Lease } from "./lease";
import { LineNumbers } from "./line-numbers";
import { SinceLine } from "./since";
import { scrollByTouch } from "./touch";
import { Viewport } from "./viewport";

const FOCUS_REPORT = /^\x1b\[[IO]$/; // mode 1004
const MOUSE_REPORT = /^\x1b\[(?:<[\d;]+[Mm]|M[^]{3})$/; // modes 1006 and 1000
const BELL = 400; // ms that it is seen

export type Ending =
  | { kind: "ended"; exit_code: number | null; signal: string | null }
  | { kind: "detached"; message: string }
  | { kind: "gone"; message: string };

export class OpenSession {
  readonly overlays = signal<Overlay[]>([]);
  readonly panels = signal<Panel[]>([]);
  readonly captured = signal(false);
  readonly focused = signal<string | null>(null);
  readonly ending = signal<Ending | null>(null);
  readonly bell = signal(false);
  readonly drawn = signal(false); // the first screen is there
  readonly sticky = { ctrl: signal(false), alt: signal(false) };
  readonly selected = signal(false);

  readonly emulator: Emulator;
  readonly viewport: Viewport;
  readonly feed: Feed;
  readonly lease: Lease;
  private readonly since: SinceLine;
  private readonly numbers: LineNumbers;
  readonly raw = signal<RawDoor | null>(null);

  private readonly stops: (() => void)[] = [];

  constructor(
    readonly id: string,
    stage: HTMLElement,
    host: HTMLElement,
    keys: Omit<PageKeys, "lookUp" | "copy" | "control">,
  ) {
    this.lease = new Lease(id);
    this.emulator = createEmulator(host, { scrollback: SCROLLBACK });
    const { terminal } = this.emulator;
    const last = before.peek();
    this.numbers = new LineNumbers(terminal);
    this.since = new SinceLine(terminal, last?.id === id ? last.seen : null);
    this.viewport = new Viewport(
      stage,
      this.emulator,
      (rows, cols) => this.raw.value?.resize(rows, cols),
      () => this.lease.yours.value,
    );
    this.feed = new Feed(
      terminal,
      (scrollback) => this.raw.value?.refresh(scrollback) ?? false,
      (rows, cols) => queueMicrotask(() => this.viewport.sessionIs(rows, cols)),
      (snapshot) => {
        this.since.drew(snapshot);
        this.numbers.drew(snapshot);
      },
      (bytes) => this.raw.value?.drew(bytes),
    );
    this.listenToPerson(host, keys);
    terminal.textarea?.setAttribute("aria-label", "Terminal. Ctrl+Shift+L goes to the list.");
    this.stops.push(
      effect(() => void Object.assign(terminal.options, themed())),
      effect(() => this.since.looks(visible.value)),
      effect(() => {
        this.viewport.panelRows.value = this.panels.value
          .filter((panel) => panel.visible)
          .reduce((rows, panel) => rows + panel.height, 0);
      }),
      door.value?.subscribe(
        id,
        ["visuals", "control", "input", "states", "sessions", "runs"],
        (event) => this.hear(event),
      ) ?? (() => undefined),
    );
    this.connect();
    // On a touch screen that would open the keyboard before anybody wants it.
    if (!matchMedia("(pointer: coarse)").matches) terminal.focus();
  }

  /** Start to watch, also again after the session was restarted or the viewers were detached. */
  connect(): void {
    this.raw.value?.close();
    this.feed.interrupted();
    this.ending.value = null;
    this.raw.value = new RawDoor(this.id, {
      told: (event) => this.told(event),
      printed: (data) => {
        this.feed.printed(data);
        this.drawn.value = true;
      },
    });
  }

  close(): void {
    this.stops.forEach((stop) => stop());
    this.raw.value?.close();
    this.viewport.close();
    this.emulator.terminal.dispose();
  }

  // --- what the person does --------------------------------------------------------------------

  type(text: string): void {
    const { ctrl, alt } = this.sticky;
    const sent =
      ctrl.value || alt.value ? withModifiers(text, { ctrl: ctrl.value, alt: alt.value }) : text;
    ctrl.value = alt.value = false;
    this.send(new TextEncoder().encode(sent));
  }

  async toggleControl(): Promise<void> {
    if (onlyLooks.value) return;
    if (this.lease.yours.value) await this.lease.give();
    else if (await this.lease.take()) this.viewport.fit();
    this.emulator.terminal.focus();
  }

  async copy(): Promise<void> {
    const text = this.emulator.terminal.getSelection();
    if (!text)
      return note("Nothing is selected. Drag over the text, with Shift in full-screen programs.");
    try {
      await navigator.clipboard.writeText(text);
      note("Copied.");
    } catch {
      if (!document.execCommand("copy")) complain("The browser does not let this page copy.");
    }
  }

  async paste(): Promise<void> {
    try {
      this.emulator.terminal.paste(harmless(await navigator.clipboard.readText()));
    } catch {
      complain("The browser does not let this page read the clipboard; use its own paste key.");
    }
    this.emulator.terminal.focus();
  }

  /** The row of the terminal that has a line's number; below zero: none has. */
  rowOf(line: number): number {
    return this.numbers.rowOf(line);
  }

  private listenToPerson(
    host: HTMLElement,
    keys: Pick<PageKeys, "search" | "list" | "activity">,
  ): void {
    const { terminal } = this.emulator;
    takePageKeys(terminal, {
      ...keys,
      copy: () => void this.copy(),
      control: () => void this.toggleControl(),
      lookUp: () => this.feed.lookUp(),
    });
    terminal.onData((text) => this.type(text));
    terminal.onBinary((text) => this.send(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    terminal.onSelectionChange(() => (this.selected.value = terminal.hasSelection()));
    terminal.onBell(() => this.ring());
    const wheel = (event: WheelEvent) => this.looked(event.deltaY < 0);
    host.addEventListener("wheel", wheel, { passive: true });
    const paste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopPropagation();
      terminal.paste(harmless(event.clipboardData?.getData("text/plain") ?? ""));
    };
    host.addEventListener("paste", paste, { capture: true }); // before xterm.js, which lets all in
    const stop = scrollByTouch(host, terminal, (up) => this.looked(up));
    this.stops.push(() => host.removeEventListener("wheel", wheel), stop);
    this.stops.push(() => host.removeEventListener("paste", paste, { capture: true }));
  }

  private looked(up: boolean): void {
    if (up) this.feed.lookUp();
    else requestAnimationFrame(this.feed.letGo);
  }

  private send(data: Uint8Array<ArrayBuffer>): void {
    const mine = this.lease.yours.value;
    const text = data.length < 32 ? new TextDecoder().decode(data) : "";
    // The program needs to know about this window's focus only while this person drives.
    if (FOCUS_REPORT.test(text) && !mine) return;
    if (this.ending.value || onlyWatches.value) return;
    const report = FOCUS_REPORT.test(text) || MOUSE_REPORT.test(text);
    if (looking.value) {
      if (!report) note("You are only looking. The menu lets you type again.", [], "looking");
      return;
    }
    // What nobody typed is not worth waiting for a connection, nor worth a word.
    if (report && (this.dropping !== null || this.raw.value?.state.value !== "open")) return;
    const driver = this.lease.driver.value;
    if (driver !== null && !mine) return note(`${nameOf(driver)} drives. Take over to type.`);
    this.since.typed();
    requestAnimationFrame(this.feed.letGo); // who types is back at the end
    this.raw.value?.type(data);
  }

  /** Why what the person types is dropped, or null. */
  get dropping(): string | null {
    return this.raw.value?.typed.dropping.value ?? null;
  }

  /** Whether nothing is heard from the daemon. */
  get silent(): boolean {
    return this.raw.value?.silent.value ?? false;
  }

  /** Whether that is because what was sent did not arrive there. */
  get deaf(): boolean {
    return this.raw.value?.deaf.value ?? false;
  }

  /** Type a line that was written elsewhere. False: it is not sent now, and should stay there. */
  typeLine(line: string): boolean {
    const { driver, yours } = this.lease;
    if (this.silent) return false;
    if (this.dropping !== null) this.raw.value?.goOn(); // it is no rest of what was dropped
    this.type(`${line}\r`);
    return driver.value === null || yours.value;
  }

  /** Type again: the person knows what was dropped. */
  goOn(): void {
    this.raw.value?.goOn();
    this.emulator.terminal.focus();
  }

  private ring(): void {
    this.bell.value = true;
    setTimeout(() => (this.bell.value = false), BELL);
  }

  // --- what the daemon sends -------------------------------------------------------------------

  private told(event: RawEvent): void {
    if (event.event === "snapshot") this.feed.told(event);
    else if (event.event === "resized") {
      if (event.by !== undefined) note(resized(event.by, event), [], "size");
    } else if (event.event === "ended") {
      this.ending.value = { kind: "ended", exit_code: event.exit_code, signal: event.signal };
      this.emulator.terminal.write("\x1b[?25l"); // nothing will be typed here any more (DECTCEM)
    } else if (event.event === "detached") {
      this.ending.value = { kind: "detached", message: event.message };
    } else if (event.event === "error") {
      if (event.error.code === "SESSION_NOT_FOUND") {
        this.ending.value = { kind: "gone", message: event.error.message };
      } else complain(event.error.message);
    }
  }

  private hear(event: Event): void {
    switch (event.event) {
      case "sync":
        if (!("overlays" in event)) return;
        this.overlays.value = event.overlays;
        this.panels.value = event.panels;
        this.setCapture(event.input_mode, event.focused_element);
        void this.lease.changed(event.driver, null);
        break;
      case "visuals":
        this.overlays.value = event.overlays;
        this.panels.value = event.panels;
        break;
      case "mode":
        this.setCapture(event.mode, event.focused_element ?? null);
        break;
      case "control":
        this.lease.waits(event.waiting_since);
        void this.lease.changed(event.driver, event.handover ?? null);
        break;
      case "session":
        if (event.change === "restarted") this.connect();
        break;
      default:
    }
  }

  private setCapture(mode: string, focused: string | null): void {
    if (mode !== "capture" && mode !== "passthrough") return; // of the screen, not of the keys
    this.captured.value = mode === "capture";
    this.focused.value = focused;
  }
}

/** That somebody else changed the session's size. */
function resized(by: string, size: { rows: number; cols: number; given_back?: boolean }): string {
  const name = nameOf(by);
  const who = name.charAt(0).toUpperCase() + name.slice(1);
  const now = `${size.cols} × ${size.rows}`;
  return size.given_back
    ? `${who} gave the size back: the session has ${now} again.`
    : `${who} changed the session's size to ${now}.`;
}

// Keys that are typed while the socket opens. They are sent when it is open, as in a terminal.
// Rule: they are kept for a limited time and up to a limited size, and dropped all together. Late
// keys would reach a screen that has changed, and half a line is worse than none.

const MOST = 4096; // bytes, and
const PATIENCE = 10_000; // ms: as `nacre attach` waits for the next daemon

export class TypeAhead {
  private kept: Uint8Array<ArrayBuffer>[] = [];
  private bytes = 0;
  private timer = 0;
  private given = false; // up, until it is open

  constructor(private readonly dropped: () => void) {}

  /** Keep it until the socket is open. False: it will not be sent. */
  keep(data: Uint8Array<ArrayBuffer>): boolean {
    if (this.given) return false;
    if (this.bytes + data.length > MOST) {
      this.giveUp();
      return true; // that all is lost has been said
    }
    this.timer ||= window.setTimeout(() => this.giveUp(), PATIENCE);
    this.kept.push(data);
    this.bytes += data.length;
    return true;
  }

  /** Return what was kept, and empty the buffer. */
  take(): Uint8Array<ArrayBuffer>[] {
    const kept = this.kept;
    this.forget();
    this.given = false;
    return kept;
  }

  /** Drop everything; nothing more will be sent. */
  forget(): void {
    clearTimeout(this.timer);
    this.timer = this.bytes = 0;
    this.kept = [];
  }

  private giveUp(): void {
    this.forget();
    this.given = true;
    this.dropped();
  }
}

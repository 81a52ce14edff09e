// Dragging a finger over the terminal scrolls it: through the scrollback, or in a full-screen
// program as the wheel does.

import type { Terminal } from "@xterm/xterm";

export function scrollByTouch(
  host: HTMLElement,
  terminal: Terminal,
  looked: (up: boolean) => void,
): () => void {
  let last: number | null = null;
  let rest = 0; // px that are no whole row yet

  const begin = (event: TouchEvent) => {
    last = event.touches.length === 1 ? (event.touches[0]?.clientY ?? null) : null;
    rest = 0;
  };
  const move = (event: TouchEvent) => {
    const now = event.touches[0]?.clientY;
    if (last === null || now === undefined) return;
    const height = host.clientHeight / terminal.rows || 16;
    rest += last - now;
    last = now;
    const rows = Math.trunc(rest / height);
    if (!rows) return;
    rest -= rows * height;
    looked(rows < 0);
    if (terminal.buffer.active.type === "normal") terminal.scrollLines(rows);
    else turnWheel(host, event, rows * height);
    event.preventDefault();
  };
  host.addEventListener("touchstart", begin, { passive: true });
  host.addEventListener("touchmove", move, { passive: false });
  return () => {
    host.removeEventListener("touchstart", begin);
    host.removeEventListener("touchmove", move);
  };
}

function turnWheel(host: HTMLElement, event: TouchEvent, deltaY: number): void {
  const { clientX = 0, clientY = 0 } = event.touches[0] ?? {};
  const target = host.querySelector(".xterm-screen");
  target?.dispatchEvent(
    new WheelEvent("wheel", { deltaY, clientX, clientY, bubbles: true, cancelable: true }),
  );
}

// The icons of the page, drawn in the colour of the text.

const PATHS = {
  plus: "M8 3v10M3 8h10",
  back: "M10 3 5 8l5 5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  close: "m4 4 8 8m0-8-8 8",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.3-1.2 3.2 3.2",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  play: "M5 3v10l8-5z",
  pause: "M5.5 3v10M10.5 3v10",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13.5 9.6A5.8 5.8 0 1 1 6.4 2.5a4.6 4.6 0 0 0 7.1 7.1Z",
  auto: "M8 2.5v11M8 2.5a5.5 5.5 0 1 0 0 11M8 2.5a5.5 5.5 0 0 1 0 11",
  help: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.7.4-1.1.9-1.1 1.7M8 12.4h.01",
  plug: "M6 2v3.5M10 2v3.5M4 5.5h8v2.5a4 4 0 0 1-8 0ZM8 12v2.5",
  bell: "M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3ZM6.8 14h2.4",
  silent: "M4 11.5V7a4 4 0 0 1 6.5-3.1M12 7v4.5l1 1H5M6.8 14h2.4M2.5 2.5l11 11",
  beside: "M2.5 3.5h4.5v9H2.5zM9 3.5h4.5v9H9z",
  leave: "M6 2.5H3.5v11H6M10 5l3 3-3 3M13 8H6.5",
  list: "M2.5 4h.01M5.5 4h8M2.5 8h.01M5.5 8h8M2.5 12h.01M5.5 12h8",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  person: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c.5-2.4 2.4-3.7 5-3.7s4.5 1.3 5 3.7",
  down: "M8 3v10M4 9l4 4 4-4",
  up: "M8 13V3M4 7l4-4 4 4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" data-icon={name}>
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The pearl, nacre's logo. */
export function Pearl({ size }: { size: number }) {
  return (
    <span class="pearl" style={{ width: `${size}px`, height: `${size}px` }} aria-hidden="true">
      <svg viewBox="0 0 32 32">
        <path d="M10 11.5l4.6 4.5L10 20.5M17 21h6" />
      </svg>
    </span>
  );
}

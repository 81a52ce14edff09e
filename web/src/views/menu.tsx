// A button that opens a list of actions. Arrows, Escape and a click elsewhere work as expected.

import { useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon, type IconName } from "./icons";

export interface Action {
  text: string;
  keys?: string;
  dangerous?: boolean;
  act: () => unknown;
}

interface Props {
  label: string;
  actions: (Action | null)[];
  icon?: IconName;
}

export function Menu({ label, actions, icon = "more" }: Props) {
  const open = useSignal(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useLayoutEffect(() => {
    if (!open.value) return;
    place.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const elsewhere = (event: PointerEvent) => {
      if (!place.current?.contains(event.target as Node)) open.value = false;
    };
    document.addEventListener("pointerdown", elsewhere, true);
    return () => document.removeEventListener("pointerdown", elsewhere, true);
  }, [open.value]);

  function choose(action: Action): void {
    open.value = false;
    button.current?.focus();
    action.act();
  }

  function keys(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") {
      open.value = false;
      button.current?.focus();
    } else if (event.key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (event.key === "ArrowUp") items.at(at <= 0 ? -1 : at - 1)?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="menu" ref={place}>
      <button
        ref={button}
        class="icon-only"
        title={label}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        <Icon name={icon} />
      </button>
      {open.value && (
        <div class="menu-list" role="menu" aria-label={label} onKeyDown={keys}>
          {actions.map((action, number) =>
            action ? (
              <button
                key={action.text}
                role="menuitem"
                class={action.dangerous ? "dangerous" : ""}
                onClick={() => choose(action)}
              >
                <span>{action.text}</span>
                {action.keys && <kbd>{action.keys}</kbd>}
              </button>
            ) : (
              <hr key={number} />
            ),
          )}
        </div>
      )}
    </div>
  );
}

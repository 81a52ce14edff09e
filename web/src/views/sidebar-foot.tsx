// Below the list: dark or light, MCP servers, help, log out.

import { canNotify, notifies, toggleNotifications } from "../attention/notify";
import { dialog } from "../dialogs";
import { door } from "../daemon";
import { choice, choose, type Choice } from "../scheme";
import { allowed, logOut, onlyWatches } from "../wire/api";
import { Icon, type IconName } from "./icons";

const NEXT: Record<Choice, Choice> = { system: "dark", dark: "light", light: "system" };
const ICONS: Record<Choice, IconName> = { system: "auto", dark: "moon", light: "sun" };
const WORDS: Record<Choice, string> = { system: "as the system", dark: "dark", light: "light" };

export function SidebarFoot() {
  const now = choice.value;
  return (
    <footer>
      <span class="version">{door.value?.version.value ?? ""}</span>
      <button
        class="icon-only"
        title={`Colours: ${WORDS[now]}`}
        aria-label={`Colours: ${WORDS[now]}; change`}
        onClick={() => choose(NEXT[now])}
      >
        <Icon name={ICONS[now]} />
      </button>
      {canNotify && !onlyWatches.value && (
        <button
          class="icon-only"
          title={`Notifications: ${notifies.value ? "on" : "off"}`}
          aria-label="Notifications"
          aria-pressed={notifies.value}
          onClick={() => void toggleNotifications()}
        >
          <Icon name={notifies.value ? "bell" : "silent"} />
        </button>
      )}
      {!allowed.value.limited && (
        <button
          class="icon-only"
          title="MCP servers"
          aria-label="MCP servers"
          onClick={() => (dialog.value = { kind: "upstreams" })}
        >
          <Icon name="plug" />
        </button>
      )}
      <button
        class="icon-only"
        title="Keys and help (?)"
        aria-label="Keys and help"
        onClick={() => (dialog.value = { kind: "help" })}
      >
        <Icon name="help" />
      </button>
      <button class="icon-only" title="Log out" aria-label="Log out" onClick={() => logOut()}>
        <Icon name="leave" />
      </button>
    </footer>
  );
}

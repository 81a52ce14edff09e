// The sessions of a cluster, by host, each with how its host is.

import { groupByHost, healthOf, hosts, type HostGroup } from "../hosts";
import type { Listed } from "../sessions";
import { Row } from "./row";

/** `whole`: hosts without a session are shown, too. */
export function HostGroups({ sessions, whole }: { sessions: Listed[]; whole: boolean }) {
  const groups = groupByHost(hosts.value, sessions);
  const shown = whole ? groups : groups.filter((one) => one.sessions.length);
  return (
    <>
      {shown.map((one) => (
        <Group key={one.host} group={one} />
      ))}
    </>
  );
}

function Group({ group }: { group: HostGroup }) {
  const { host, said, sessions } = group;
  const health = healthOf(said);
  const room = said ? `${said.sessions} of ${said.capacity} sessions` : "";
  const about = [room, said?.labels.join(", "), said && `nacre ${said.version}`].filter(Boolean).join(" · ");
  return (
    <section class="host" aria-label={`Host ${host}`} data-health={health.tone}>
      <h2 title={about}>
        <span class="host-dot" aria-hidden="true" />
        <span class="host-name">{host}</span>
        {said?.here && <span class="host-here">this host</span>}
        {health.text && <span class="host-health">{health.text}</span>}
        <span class="host-count">{sessions.length || ""}</span>
      </h2>
      {sessions.map((one) => (
        <Row key={one.session_id} session={one} />
      ))}
    </section>
  );
}

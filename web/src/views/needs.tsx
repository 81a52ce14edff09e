// "Needs you": the sessions that wait for the person, with what they ask and its answers.
// Rule: on a wide page they stand above the list, where they cover nothing. On a phone, where a
// session has the whole screen, they open over it: a strip beside it would resize the session.

import { useSignal } from "@preact/signals";

import { calls, type Call } from "../attention/calls";
import { hrefOf, route } from "../route";
import { NARROW } from "../style/viewport";
import { useMedia } from "./media";
import { ApprovalQuestion, ProgramQuestion } from "./question";
import { Row } from "./row";

export function Needs() {
  const narrow = useMedia(NARROW);
  if (!calls.value.length || (narrow && route.value.view !== "list")) return null;
  return (
    <section class="needs" aria-label="Needs you">
      <h2>
        <span role="status">Needs you ({calls.value.length})</span>
      </h2>
      {calls.value.map((call) => (
        <div key={call.key} class="call">
          {call.session ? <Row session={call.session} /> : <p class="call-new">A new session</p>}
          <Questions call={call} />
        </div>
      ))}
    </section>
  );
}

/** The same on a phone, over the session that is open. */
export function FloatingNeeds() {
  const narrow = useMedia(NARROW);
  const at = route.value;
  const toggled = useSignal<boolean | null>(null);
  if (!narrow || at.view === "list" || !calls.value.length) return null;
  const isOwn = ({ session }: Call) => session !== null && "session" in at && isAt(at.session, session);
  const own = calls.value.filter(isOwn); // what the session before one's eyes asks comes first
  const open = toggled.value ?? own.length > 0;
  return (
    <section class="needs floating" aria-label="Needs you" data-open={open || undefined}>
      <button aria-expanded={open} onClick={() => (toggled.value = !open)}>
        Needs you ({calls.value.length})
      </button>
      {open &&
        [...own, ...calls.value.filter((call) => !isOwn(call))].map((call) => (
          <div key={call.key} class="call">
            <p class="call-name">
              {call.session ? (
                <a href={hrefOf({ view: "session", session: call.session.name })}>
                  {call.session.name}
                </a>
              ) : (
                "A new session"
              )}
            </p>
            <Questions call={call} />
          </div>
        ))}
    </section>
  );
}

function Questions({ call }: { call: Call }) {
  if (!call.approvals.length && call.session) return <ProgramQuestion session={call.session} />;
  return (
    <>
      {call.approvals.map((one) => (
        <ApprovalQuestion key={one.id} one={one} />
      ))}
    </>
  );
}

function isAt(reference: string, one: { name: string; session_id: string; port: number }): boolean {
  return [one.name, one.session_id, String(one.port)].includes(reference);
}

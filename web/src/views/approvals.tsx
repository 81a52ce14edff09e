// What waits for a person's approval; not shown while there is nothing.

import { approvals } from "../approvals";
import { hrefOf } from "../route";

export function Approvals() {
  if (!approvals.value.length) return null;
  return (
    <section class="approvals" aria-label="Waiting for your approval" role="status">
      {approvals.value.map((one) => (
        <a key={one.id} class="approval" href={hrefOf({ view: "session", session: one.session })}>
          <b>{one.session}</b> {one.text}
        </a>
      ))}
    </section>
  );
}

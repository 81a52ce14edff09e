// The region for what waits for a person's consent; it is absent while nothing does.

import { approvals } from "../approvals";
import { hrefOf } from "../route";

export function Approvals() {
  if (!approvals.value.length) return null;
  return (
    <section class="approvals" aria-label="Waits for your consent" role="status">
      {approvals.value.map((one) => (
        <a key={one.id} class="approval" href={hrefOf({ view: "session", session: one.session })}>
          <b>{one.session}</b> {one.text}
        </a>
      ))}
    </section>
  );
}

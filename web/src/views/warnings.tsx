// Above everything: what people must know about the daemon itself.

import { warnings } from "../daemon";

export function Warnings() {
  if (!warnings.value.length) return null;
  return (
    <div class="warnings" role="alert">
      {warnings.value.map((text) => (
        <p key={text}>
          <b>Sessions are at risk:</b> {text}. <code>nacre doctor</code> says more.
        </p>
      ))}
    </div>
  );
}

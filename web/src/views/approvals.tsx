// What waits for a person's approval; not shown while there is nothing.

import { ANSWERS, approvals, visible } from "../approvals";
import { ask } from "../daemon";
import { hrefOf } from "../route";
import { shortPath } from "../words";
import type { Approval, ApprovalAnswer } from "../wire/shapes";

export function Approvals() {
  if (!approvals.value.length) return null;
  return (
    <section class="approvals" aria-label="Waiting for your approval" role="status">
      {approvals.value.map((one) => (
        <Question key={one.id} one={one} />
      ))}
    </section>
  );
}

function Question({ one }: { one: Approval }) {
  const answer = (given: ApprovalAnswer, text?: string) =>
    void ask("answer_approval", null, { id: one.id, answer: given, text });
  const typed = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("typed");
    answer("text", (field as HTMLInputElement).value);
    (field as HTMLInputElement).value = "";
  };
  return (
    <article class="approval" data-approval={one.id}>
      <p class="approval-where">
        {one.session ? (
          <a href={hrefOf({ view: "session", session: one.session })}>{one.session}</a>
        ) : (
          "a new session"
        )}{" "}
        {one.cwd && <span title={visible(one.cwd)}>{shortPath(visible(one.cwd))}</span>}
      </p>
      <pre class="approval-command">{visible(one.command)}</pre>
      {one.kind === "command" ? (
        <p class="approval-why">
          {visible(one.reasons.join("; "))} ({one.policy}). Asked by {visible(one.asked_by)}
          {!one.waiting && ", which has given up waiting: your answer counts at its next try"}.
        </p>
      ) : (
        <p class="approval-why">{visible(one.reasons.join("; "))}; no agent sees your answer.</p>
      )}
      {one.kind === "password" && (
        <form class="approval-answers" onSubmit={typed}>
          <input
            name="typed"
            type="password"
            autocomplete="off"
            aria-label={visible(one.command)}
          />
          <button class="primary" title={ANSWERS.text.title}>
            {ANSWERS.text.text}
          </button>
        </form>
      )}
      <div class="approval-answers">
        {one.answers.filter((given) => given !== "text").map((given) => (
          <button
            key={given}
            class={given === "deny" ? "dangerous" : given === "once" || given === "yes" ? "primary" : ""}
            title={ANSWERS[given].title}
            onClick={() => answer(given)}
          >
            {given === "deny" && one.kind === "password" ? "Dismiss" : ANSWERS[given].text}
          </button>
        ))}
      </div>
    </article>
  );
}

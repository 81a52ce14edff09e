// One question to the person, and the answers that fit it.
// Rule: an answer goes from the person to the program. The daemon types it only if the same question
// still stands, lets nobody else type meanwhile, and says whether it arrived.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { ANSWERS, visible } from "../approvals";
import { ask } from "../daemon";
import { hrefOf } from "../route";
import type { Listed } from "../sessions";
import { complain } from "../toasts";
import { shortPath } from "../words";
import type { Approval, ApprovalAnswer } from "../wire/shapes";

/** What the policy asks, or a program that an agent has met. */
export function ApprovalQuestion({ one }: { one: Approval }) {
  const { busy, send } = useSending(one.session);
  const answer = (given: ApprovalAnswer, text?: string) =>
    send("answer_approval", null, { id: one.id, answer: given, text });
  const deny = one.kind === "password" ? "Dismiss" : ANSWERS.deny.text;
  const asked = visible(one.command);
  return (
    <article class="approval" data-approval={one.id}>
      <pre class="approval-command">{asked}</pre>
      <p class="approval-why">
        {one.kind === "command" ? (
          <>
            {visible(one.reasons.join("; "))} ({one.policy}). Asked by {visible(one.asked_by)}
            {one.cwd && <> in <span title={visible(one.cwd)}>{shortPath(visible(one.cwd))}</span></>}
            {!one.waiting && ", which has given up waiting: your answer counts at its next try"}.
          </>
        ) : (
          `${visible(one.reasons.join("; "))}; no agent sees your answer.`
        )}
      </p>
      {one.kind === "password" && (
        <Field label={asked} secret busy={busy} give={(text) => answer("text", text)} />
      )}
      <Answers>
        {one.answers
          .filter((given) => given !== "text")
          .map((given) => (
            <button
              key={given}
              class={looks(given)}
              title={ANSWERS[given].title}
              disabled={busy}
              onClick={() => answer(given)}
            >
              {given === "deny" ? deny : ANSWERS[given].text}
            </button>
          ))}
      </Answers>
    </article>
  );
}

/** What the program of a session asks, by the daemon's own facts. */
export function ProgramQuestion({ session }: { session: Listed }) {
  const { busy, send } = useSending(session.name);
  const question = session.question ?? "";
  const answer = (given: "text" | "yes" | "no", text?: string) =>
    send("answer_question", session.session_id, { question, answer: given, text });
  const asked = visible(question);
  return (
    <article class="approval" data-question={session.session_id}>
      {asked && <pre class="approval-command">{asked}</pre>}
      {session.asks === "password" && (
        <p class="approval-why">What you type is not recorded, and no agent sees it.</p>
      )}
      {session.asks === "confirm" && (
        <Answers>
          <button class="primary" disabled={busy} onClick={() => answer("yes")}>
            Yes
          </button>
          <button disabled={busy} onClick={() => answer("no")}>
            No
          </button>
        </Answers>
      )}
      {(session.asks === "password" || session.asks === "line") && (
        <Field
          label={asked || "What it waits for"}
          secret={session.asks === "password"}
          busy={busy}
          give={(text) => answer("text", text)}
        />
      )}
      {session.asks === "key" && (
        <Answers>
          <a class="button" href={hrefOf({ view: "session", session: session.name })}>
            Open it
          </a>
        </Answers>
      )}
    </article>
  );
}

function Answers({ children }: { children: ComponentChildren }) {
  return <div class="approval-answers">{children}</div>;
}

interface FieldProps {
  label: string;
  secret: boolean;
  busy: boolean;
  give: (text: string) => void;
}

function Field({ label, secret, busy, give }: FieldProps) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("typed");
    give((field as HTMLInputElement).value);
    (field as HTMLInputElement).value = "";
  };
  return (
    <form class="approval-answers" onSubmit={submit}>
      {secret ? (
        <input name="typed" type="password" autocomplete="off" aria-label={label} />
      ) : (
        <input name="typed" type="text" autocomplete="off" spellcheck={false} aria-label={label} />
      )}
      <button class="primary" title={ANSWERS.text.title} disabled={busy}>
        {ANSWERS.text.text}
      </button>
    </form>
  );
}

/** Send an answer once, and say when nothing shows that it arrived. */
function useSending(name: string | null) {
  const busy = useSignal(false);
  async function send(method: string, session: string | null, params: Record<string, unknown>) {
    if (busy.value) return;
    busy.value = true;
    const done = await ask<{ arrived?: boolean | null }>(method, session, params);
    busy.value = false;
    if (done?.arrived === false) {
      complain(`Your answer was typed, but nothing shows that ${name ?? "the program"} took it. Look at it.`);
    }
  }
  return {
    busy: busy.value,
    send: (method: string, session: string | null, params: Record<string, unknown>) =>
      void send(method, session, params),
  };
}

function looks(given: ApprovalAnswer): string {
  if (given === "deny") return "dangerous";
  return given === "once" || given === "yes" ? "primary" : "";
}

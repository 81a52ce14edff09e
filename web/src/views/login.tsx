// The login: with the token, or with what is in an address that `nacre web` or `nacre share` printed.

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { farewell, logIn, type Proof } from "../wire/api";
import { Pearl } from "./icons";

export function Login({ proof }: { proof: RefObject<Proof | null> }) {
  const busy = useSignal(proof.current !== null);
  const problem = useSignal<string | null>(null);
  const field = useRef<HTMLInputElement>(null);

  async function enter(given: Proof): Promise<void> {
    busy.value = true;
    problem.value = null;
    try {
      await logIn(given);
    } catch (error) {
      problem.value = sentence(error);
      busy.value = false;
      field.current?.select();
    }
  }

  useEffect(() => {
    if (proof.current !== null) void enter(proof.current);
    proof.current = null;
    field.current?.focus();
  }, []);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const token = field.current?.value.trim();
    if (token) void enter({ token });
  }

  return (
    <main class="login">
      <form onSubmit={submit} aria-busy={busy.value}>
        <Pearl size={44} />
        <h1>nacre</h1>
        <p class="lead">The terminals on this machine, shared with your agents.</p>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          aria-describedby="token-hint"
          aria-invalid={problem.value !== null}
        />
        <button class="primary" type="submit" disabled={busy.value}>
          {busy.value ? "Logging in…" : "Log in"}
        </button>
        <p class="problem" role="alert">
          {problem.value ?? farewell.value ?? ""}
        </p>
        <p class="hint" id="token-hint">
          <code>nacre web</code> prints a link that logs you in. Or enter a token that{" "}
          <code>nacre token create --person</code> made. The page does not store it.
        </p>
      </form>
    </main>
  );
}

function sentence(error: unknown): string {
  if (error instanceof TypeError)
    return "Cannot reach the daemon. Check with nacre status whether it is running.";
  const text = error instanceof Error ? error.message : String(error);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, ".");
}

// The page's dialogs. They are the browser's own: it keeps the focus inside, and Escape closes them.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { create } from "../actions";
import { closeDialog, dialog, type Question } from "../dialogs";
import { go } from "../route";
import { Help } from "./help";
import { Upstreams } from "./upstreams";

export function Dialogs() {
  const open = dialog.value;
  switch (open?.kind) {
    case "new":
      return <NewSession />;
    case "help":
      return (
        <Modal title="Keys" reading>
          <Help />
        </Modal>
      );
    case "upstreams":
      return (
        <Modal title="MCP servers">
          <Upstreams />
        </Modal>
      );
    case "confirm":
      return <Confirm question={open.question} answer={open.answer} />;
    case "name":
      return <Name before={open.before} give={open.give} />;
    default:
      return null;
  }
}

interface ModalProps {
  title: string;
  reading?: boolean; // a text: it begins at its top, and keys scroll it
  children: ComponentChildren;
}

export function Modal({ title, reading = false, children }: ModalProps) {
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    place.current?.showModal();
    if (reading && place.current) {
      // The browser gives its first button the focus, and scrolls there: to the end of a long text.
      place.current.focus();
      place.current.scrollTop = 0;
    }
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={place}
      tabIndex={reading ? -1 : undefined}
      aria-label={title}
      onClose={closeDialog}
      onClick={(event) => event.target === place.current && closeDialog()}
    >
      <div class="dialog">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

function Buttons({ action, dangerous = false }: { action: string; dangerous?: boolean }) {
  return (
    <div class="dialog-buttons">
      <button type="button" onClick={closeDialog}>
        Cancel
      </button>
      <button type="submit" class={dangerous ? "dangerous" : "primary"}>
        {action}
      </button>
    </div>
  );
}

/**
 * Do what a form asks for, and then close it. If that is refused, show why, so that the person can
 * correct it.
 */
function useTrying() {
  const problem = useSignal("");
  const busy = useRef(false);
  async function attempt(act: () => Promise<void>): Promise<void> {
    if (busy.current) return; // Enter was pressed twice
    busy.current = true;
    try {
      await act();
    } catch (error) {
      problem.value = (error as Error).message;
    }
    busy.current = false;
  }
  return { problem: problem.value, attempt };
}

function Problem({ text }: { text: string }) {
  if (!text) return null;
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

function NewSession() {
  const { problem, attempt } = useTrying();
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    const field = (name: string) => String(form.get(name) ?? "").trim();
    const wanted = { name: field("name"), command: field("command"), cwd: field("cwd") };
    void attempt(async () => {
      const session = await create(wanted);
      closeDialog();
      go({ view: "session", session });
    });
  }
  return (
    <Modal title="New session">
      <form onSubmit={submit}>
        <Field name="name" label="Name" hint="If empty: derived from the folder’s name." />
        <Field name="command" label="Command" hint="If empty: your shell." mono />
        <Field name="cwd" label="Folder" hint="If empty: your home folder." mono />
        <Problem text={problem} />
        <Buttons action="Open" />
      </form>
    </Modal>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint: string;
  mono?: boolean;
}

function Field({ name, label, hint, mono = false }: FieldProps) {
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      <input
        id={`field-${name}`}
        name={name}
        class={mono ? "mono" : ""}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-describedby={`hint-${name}`}
      />
      <p class="hint" id={`hint-${name}`}>
        {hint}
      </p>
    </div>
  );
}

function Confirm({ question, answer }: { question: Question; answer: (sure: boolean) => void }) {
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    dialog.value = null;
    answer(true);
  }
  return (
    <Modal title={question.title}>
      <form onSubmit={submit}>
        <p>{question.text}</p>
        <Buttons action={question.action} dangerous={question.dangerous} />
      </form>
    </Modal>
  );
}

function Name({ before, give }: { before: string; give: (name: string) => Promise<void> }) {
  const field = useRef<HTMLInputElement>(null);
  const { problem, attempt } = useTrying();
  useEffect(() => field.current?.select(), []);
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const name = field.current?.value.trim() || before;
    void attempt(async () => {
      await give(name);
      closeDialog();
    });
  }
  return (
    <Modal title={`Rename ${before}`}>
      <form onSubmit={submit}>
        <div class="field">
          <label for="field-new-name">New name</label>
          <input
            id="field-new-name"
            ref={field}
            defaultValue={before}
            autocomplete="off"
            required
          />
        </div>
        <Problem text={problem} />
        <Buttons action="Rename" />
      </form>
    </Modal>
  );
}

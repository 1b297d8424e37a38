import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DocumentId } from '../generated/documents.ts';
import { type Ability, useMay } from '../session.ts';
import { useMutation, userErrorsOf } from '../use-mutation.ts';
import { watchClosely } from '../use-query.ts';
import { Errors, onSubmit, UserErrors, type Values } from './form.tsx';
import { Problem } from './problem.tsx';
import { SendButton } from './send-button.tsx';

/** One of several changes that was refused. */
interface Refused {
  /** Its place among all changes. */
  readonly index: number;
  readonly message: string;
}

interface ActionProps<Result extends object, Variables> {
  readonly label: string;
  readonly about: string;
  readonly ability: Ability;
  readonly document: DocumentId<Result, Variables>;
  /** @param key an idempotency key: the same for the same input, until the dialog closes */
  readonly variables: (values: Values, key: string) => Promise<Variables> | Variables;
  /** Of further changes. All are sent one after the other, even after a refusal that is not `RETRY_RATE_LIMITED`. */
  readonly more?: readonly Variables[];
  readonly primary?: boolean;
  /** Whether the button could work now. A dialog that is open stays. */
  readonly isOffered?: boolean;
  /** Called when the dialog opens and closes. What it belongs to must stay while it is open, because it can show a secret. */
  readonly onOpen?: (isOpen: boolean) => void;
  /** The fields of the form. */
  readonly children?: ComponentChildren;
  readonly onDone?: (result: Result) => void;
  /** Shown beside the button after a success, even once the button is gone. */
  readonly report?: (result: Result) => ComponentChildren;
  /** Shown in the dialog after a success. Without it, the dialog closes. */
  readonly result?: (result: Result, refused: readonly Refused[]) => ComponentChildren;
}

/** A button that asks before it changes something. Absent without the ability. */
export function Action<Result extends object, Variables>(props: ActionProps<Result, Variables>) {
  const { label, ability, primary, isOffered = true, report, onOpen } = props;
  const [isOpen, setIsOpen] = useState(false);
  const setOpen = (next: boolean) => {
    setIsOpen(next);
    onOpen?.(next);
  };
  const [done, setDone] = useState<Result | null>(null);
  const region = useRef<HTMLDivElement>(null);
  // The button, which the dialog gives the focus back to, can go.
  useEffect(() => {
    if (done) region.current?.focus();
  }, [done]);
  if (!useMay(ability)) return null;
  const onDone = (result: Result) => {
    // Another result, which can have a secret, ends with its dialog.
    if (report) setDone(result);
    props.onDone?.(result);
  };
  return (
    <>
      {isOffered && (
        <button className={primary ? 'first' : ''} onClick={() => setOpen(true)}>
          {label}
        </button>
      )}
      {isOpen && <Dialog {...props} onDone={onDone} close={() => setOpen(false)} />}
      {report && (
        <div role="status" tabIndex={-1} ref={region}>
          {done && report(done)}
        </div>
      )}
    </>
  );
}

function Dialog<Result extends object, Variables>(current: ActionProps<Result, Variables> & { close: () => void }) {
  // What somebody reads and confirms does not change meanwhile. Its fields and its result can.
  const [props] = useState(current);
  const { label, about, close } = props;
  const { run, running, failure, userErrors } = useMutation(props.document);
  const [done, setDone] = useState<Result | null>(null);
  const last = useRef({ input: '', key: '', sent: 0, refused: [] as Refused[] });
  const ref = useRef<HTMLDialogElement>(null);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  const submit = async (values: Values) => {
    const input = JSON.stringify(values);
    if (last.current.input !== input) last.current = { input, key: crypto.randomUUID(), sent: 0, refused: [] };
    const { key } = last.current;
    const all = [() => props.variables(values, key), ...(props.more ?? []).map((each) => () => each)];
    let result: Result | null = null;
    // After the end of a loop, those before it are not sent again.
    for (const [index, variables] of [...all.entries()].slice(last.current.sent)) {
      result = await run(variables);
      if (result === null) return;
      const [error] = userErrorsOf(result);
      // An earlier request has made this change.
      if (error?.code === 'SECRET_NOT_REPEATED') watchClosely();
      if (error && (!props.more || error.code === 'RETRY_RATE_LIMITED')) return;
      if (error) last.current.refused.push({ index, message: error.message });
      last.current.sent += 1;
    }
    if (result === null) return;
    watchClosely();
    if (props.result) setDone(result);
    else ref.current?.close();
    props.onDone?.(result);
  };
  // Errors without a control of the form are shown below it.
  const others = done ? [] : userErrors.filter(({ field }) => !form.current?.elements.namedItem(field?.[1] ?? ''));
  return (
    <dialog ref={ref} tabIndex={-1} aria-label={label} onClose={close}>
      <form ref={form} onSubmit={onSubmit(submit)}>
        <h2>{label}</h2>
        <div role="status">{done && current.result ? current.result(done, last.current.refused) : <p>{about}</p>}</div>
        {!done && <UserErrors value={userErrors}>{current.children}</UserErrors>}
        <Errors of={others} />
        {failure && <Problem failure={failure} />}
        <div className="actions">
          {!done && <SendButton isSending={running}>{running ? 'Sending…' : label}</SendButton>}
          <button type="button" onClick={() => ref.current?.close()}>
            {done ? 'Close' : 'Cancel'}
          </button>
        </div>
      </form>
    </dialog>
  );
}

import {
  type ComponentProps,
  createContext,
  type DragEvent,
  type ReactNode,
  type SyntheticEvent,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { type Ability, type Failure, type Query, useMay, useMutation, type UserError, userErrorsOf } from './api.ts';
import type { DocumentId } from './generated/documents.ts';
import { Link } from './location.tsx';
import { formatDuration, formatRelative, formatUtc, timeOf } from './time.ts';
import { beginningOf, marked } from './visible-text.ts';
import { plural, toneOf, type Tone, wordOf } from './words.ts';

/** The time, which is current to `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

let shownPath = location.pathname;

/** The heading of a page. After a change of the page it gets the focus, so that a screen reader reads the new page. */
export function Heading({ title, above, children }: { title: string; above?: ReactNode; children?: ReactNode }) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Webhooks`;
    if (shownPath === location.pathname) return;
    shownPath = location.pathname;
    scrollTo(0, 0);
    ref.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <div className="heading">
      {above && <small>{above}</small>}
      <h1 ref={ref} tabIndex={-1}>
        {marked(title)}
      </h1>
      {children}
    </div>
  );
}

/** The advice about an attempt. What is in backticks is code. */
export function Advice({ text }: { text: string }) {
  return text.split('`').map((part, at) => <Visible key={at} text={part} as={at % 2 === 1 ? 'code' : 'bdi'} />);
}

/** Text of others. A long one is shown in parts. */
export function Visible({ text, as: Tag = 'bdi' }: { text: string; as?: 'b' | 'bdi' | 'code' | 'pre' }) {
  const [length, setLength] = useState(20_000);
  const shown = beginningOf(text, length);
  const more = `Show more: ${shown.length.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters`;
  return (
    <>
      <Tag {...(Tag === 'pre' && { tabIndex: 0 })}>{marked(shown)}</Tag>
      {shown.length < text.length && <button onClick={() => setLength(length + 80_000)}>{more}</button>}
    </>
  );
}

/** Local time with UTC below it. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at}>
      {timeOf(at)}
      <small>{formatUtc(Date.parse(at))}</small>
    </time>
  );
}

export function Relative({ at }: { at: string }) {
  return formatRelative(at, useNow(1000));
}

const shapes: Record<Tone, string> = {
  good: 'M5 0a5 5 0 1 0 0 10a5 5 0 1 0 0-10',
  warn: 'M5 0L10 10H0z',
  bad: 'M0 0H10V10H0z',
  idle: 'M1 0H4V10H1zM6 0H9V10H6z',
};

/** A state as a word, a shape and a color. */
export function State({ value, tone = toneOf(value) }: { value: string; tone?: Tone }) {
  return (
    <span className={`state ${tone}`}>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <path d={shapes[tone]} />
      </svg>
      {wordOf(value)}
    </span>
  );
}

/** Why there is no result. A query is tried again at the time that the server named. */
export function Problem({ failure, retry }: { failure: Failure; retry?: () => void }) {
  const { message, details } = failure;
  const { code, requestId, retryAtMs = null } = details;
  const leftMs = (retryAtMs ?? 0) - useNow(1000);
  const isDue = retryAtMs !== null && leftMs <= 0;
  useEffect(() => {
    if (isDue) retry?.();
  }, [isDue]);
  return (
    <div className="why bad" role="alert">
      <p>
        <Visible text={message} />
        {retryAtMs !== null && ` ${retry ? 'This page tries' : 'Try'} again in ${formatDuration(leftMs)}.`}
        <small>{requestId === undefined ? code : `${code}, request id ${requestId}`}</small>
      </p>
      {retry && <button onClick={retry}>Try again</button>}
    </div>
  );
}

export const loading = (
  <p className="loading" role="status">
    Loading…
  </p>
);

interface LoadedProps<Result> {
  readonly query: Query<Result>;
  readonly children: (data: Result) => ReactNode;
  /** Shown if there is nothing. */
  readonly empty?: ReactNode;
}

/** The result of a query, or that it is loading or failed. */
export function Loaded<Result>({ query: { data, failure, reload }, children, empty }: LoadedProps<Result>) {
  return (
    <>
      {failure && <Problem failure={failure} retry={reload} />}
      {data !== undefined ? (children(data) ?? empty) : failure ? null : loading}
    </>
  );
}

export function Copy({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [shown, setShown] = useState(label);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setShown('Copied'),
      () => setShown('Not allowed'),
    );
  return (
    <button type="button" onClick={() => void copy()} onBlur={() => setShown(label)}>
      <span role="status">{shown}</span>
    </button>
  );
}

export function Facts({ of }: { of: Readonly<Record<string, ReactNode>> }) {
  const facts = Object.entries(of).map(([name, value]) => (
    <div key={name}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ));
  return <dl className="facts">{facts}</dl>;
}

function rowOf(cells: readonly ReactNode[], head: readonly string[] | null, key = 0) {
  const Cell = head ? 'td' : 'th';
  return (
    <tr key={key}>
      {cells.map((cell, column) => (
        <Cell key={column} data-head={head?.[column]}>
          {cell}
        </Cell>
      ))}
    </tr>
  );
}

export function Table({ head, rows }: { head: readonly string[]; rows: readonly (readonly ReactNode[])[] }) {
  return (
    <table>
      <thead>{rowOf(head, null)}</thead>
      <tbody>{rows.map((row, at) => rowOf(row, head, at))}</tbody>
    </table>
  );
}

/** Links that look like buttons. Those without a target are left out. */
export function Links({ of }: { of: Readonly<Record<string, string | false | null>> }) {
  return Object.entries(of).map(
    ([label, to]) =>
      typeof to === 'string' && (
        <Link key={label} className="button" to={to}>
          {label}
        </Link>
      ),
  );
}

const UserErrors = createContext<readonly UserError[]>([]);

export function Errors({ of }: { of: readonly UserError[] }) {
  const texts = of.map(({ message }) => <Visible key={message} text={message} />);
  return (
    texts.length > 0 && (
      <p className="error" role="alert">
        {texts}
      </p>
    )
  );
}

/** A labelled control with the user errors of its input field, which is called as its label is in `name`. */
function Field({ name, label, control }: { name?: string | undefined; label: string; control: ReactNode }) {
  const errors = useContext(UserErrors).filter(({ field }) => field?.[1] === name);
  return (
    <label className="field">
      {label}
      {control}
      <Errors of={errors} />
    </label>
  );
}

export function Input({ label, ...rest }: ComponentProps<'input'> & { label: string }) {
  return <Field {...rest} label={label} control={<input autoComplete="off" spellCheck={false} {...rest} />} />;
}

export type Option = readonly [value: string, label: string];

type SelectProps = ComponentProps<'select'> & { label: string; options: readonly Option[]; value?: string };

/** Also offers a value, for example of a URL, that is not among the options. */
export function Select({ label, options, value, ...rest }: SelectProps) {
  const all =
    value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value] as const];
  const list = all.map(([each, text]) => <option key={each} value={each} label={text} />);
  return (
    <Field
      {...rest}
      label={label}
      control={
        <select {...rest} value={value}>
          {list}
        </select>
      }
    />
  );
}

/** A file that stays in the page, or what is typed instead. */
export function Dropped(props: {
  file: File | null;
  onFile: (file: File | null) => void;
  label: string;
  /** Of the control for the file. */
  name?: string;
  children: ReactNode;
}) {
  const { file, onFile, label, name = 'File', children } = props;
  const drop = (event: DragEvent) => {
    const [dropped] = event.dataTransfer.files;
    // Text is dropped into the field.
    if (!dropped) return;
    event.preventDefault();
    onFile(dropped);
  };
  return (
    <div className="field" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <small>{label}</small>
      <div className="actions">
        <input type="file" aria-label={name} onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)} />
        {file && (
          <>
            <Visible text={`${file.name}, ${plural(file.size, 'byte')}`} />
            <button type="button" onClick={() => onFile(null)}>
              Remove
            </button>
          </>
        )}
      </div>
      {!file && children}
    </div>
  );
}

/** The fields of a form by their name, without spaces around them. */
export type Values = Readonly<Record<string, string>>;

export function onSubmit(use: (values: Values) => Promise<void> | void) {
  return (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const texts = Array.from(new FormData(event.currentTarget), ([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() : '',
    ]);
    void use(Object.fromEntries(texts));
  };
}

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
  /** Of further changes. All are sent one after the other, also after a refusal that is not `RETRY_RATE_LIMITED`. */
  readonly more?: readonly Variables[];
  readonly primary?: boolean;
  /** The fields of the form. */
  readonly children?: ReactNode;
  readonly onDone?: (result: Result) => void;
  /** Shown in the dialog after a success. Without it, the dialog closes. */
  readonly result?: (result: Result, refused: readonly Refused[]) => ReactNode;
}

/** A button that asks before it changes something. Absent without the ability. */
export function Action<Result extends object, Variables>(props: ActionProps<Result, Variables>) {
  const { label, ability, primary } = props;
  const [isOpen, setOpen] = useState(false);
  if (!useMay(ability)) return null;
  return (
    <>
      <button className={primary ? 'first' : ''} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && <Dialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

function Dialog<Result extends object, Variables>(props: ActionProps<Result, Variables> & { close: () => void }) {
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
      if (error && (!props.more || error.code === 'RETRY_RATE_LIMITED')) return;
      if (error) last.current.refused.push({ index, message: error.message });
      last.current.sent += 1;
    }
    if (result === null) return;
    if (props.result) setDone(result);
    else ref.current?.close();
    props.onDone?.(result);
  };
  // Errors without a control of the form are shown below it.
  const others = done ? [] : userErrors.filter(({ field }) => !form.current?.elements.namedItem(field?.[1] ?? ''));
  return (
    <dialog ref={ref} aria-label={label} onClose={close}>
      <form ref={form} onSubmit={onSubmit(submit)}>
        <h2>{label}</h2>
        {done && props.result ? props.result(done, last.current.refused) : <p>{about}</p>}
        {!done && <UserErrors value={userErrors}>{props.children}</UserErrors>}
        <Errors of={others} />
        {failure && <Problem failure={failure} />}
        <div className="actions">
          {!done && (
            <button className="first" disabled={running}>
              {running ? 'Sending…' : label}
            </button>
          )}
          <button type="button" onClick={() => ref.current?.close()}>
            {done ? 'Close' : 'Cancel'}
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A page without a session, or without its contents. */
export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="notice">
      <h1>{title}</h1>
      {children}
    </main>
  );
}

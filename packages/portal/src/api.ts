import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { DocumentId } from './generated/documents.ts';

/** The path of the account, for example `/partners/portal/7/`. */
export const base = /^\/[^/]+\/portal\/\d+\//.exec(location.pathname)?.[0] ?? '/';

export type Ability = 'READ' | 'READ_PAYLOAD' | 'OPERATE' | 'CONFIGURE';

export interface Session {
  readonly id: string;
  readonly interface: string;
  readonly account: { readonly id: string; readonly name: string };
  readonly abilities: readonly string[];
  readonly actor: string;
  readonly returnUrl: string | null;
  readonly subscriptionId: string | null;
  readonly expiresAt: string;
  readonly idleSeconds: number;
}

/** What the tab shows: the pages of a session, or why there are none. */
type Gate =
  | { readonly kind: 'loading' | 'signed-out' }
  | { readonly kind: 'link'; readonly token: string }
  | { readonly kind: 'link-failed' }
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'ended'; readonly returnUrl: string | null };

let gate: Gate = { kind: 'loading' };
const listeners = new Set<() => void>();
/** When the last request of the session was answered: its idle time starts there. */
let lastUsedMs = Date.now();

export function setGate(next: Gate): void {
  gate = next;
  for (const listener of listeners) listener();
}

export function useGate(): Gate {
  return useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => gate,
  );
}

/** The session of the pages. They are rendered only while there is one. */
export function useSession(): Session {
  const current = useGate();
  if (current.kind !== 'open') throw new Error('There is no session.');
  return current.session;
}

export function useMay(ability: Ability): boolean {
  return useSession().abilities.includes(ability);
}

/** When the session ends unless it is used. */
export function endOf({ expiresAt, idleSeconds }: Session): number {
  return Math.min(Date.parse(expiresAt), lastUsedMs + idleSeconds * 1000);
}

/** The global identifier of a record, from the number in a URL. */
export function gidOf(session: Session, type: string, number: string): string {
  return session.account.id.replace(/\/[^/]+\/\d+$/, `/${type}/${number}`);
}

interface FailureDetails {
  readonly status: number;
  readonly code: string;
  readonly requestId?: string | undefined;
  /** When to send the request again, in milliseconds. Null if the server names no time. */
  readonly retryAtMs?: number | null;
}

/** Why a request has no result. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly details: FailureDetails;

  constructor(message: string, details: FailureDetails) {
    super(message);
    this.details = details;
  }
}

/** Whether there is no session, or no longer. */
export function isEnd(error: unknown): boolean {
  return error instanceof Failure && error.details.status === 401;
}

interface ErrorBody {
  readonly errors?: readonly { message: string; extensions?: { code?: string; requestId?: string } }[];
}

/** @throws {Failure} for any response other than a success */
export async function request<Body>(method: string, path: string, input?: object, signal?: AbortSignal): Promise<Body> {
  const headers: Record<string, string> = { Accept: 'application/graphql-response+json, application/json' };
  if (input !== undefined) headers['Content-Type'] = 'application/json';
  if (gate.kind === 'open') headers['X-Portal-Session'] = gate.session.id;
  const init = { method, headers, body: input === undefined ? null : JSON.stringify(input), signal: signal ?? null };
  let response: Response;
  let body: Body & ErrorBody;
  try {
    response = await fetch(base + path, { ...init, cache: 'no-store', redirect: 'error' });
    const text = await response.text();
    // A proxy can answer with a page of its own.
    body = JSON.parse(response.ok || text.startsWith('{') ? text || '{}' : '{}');
  } catch (error) {
    if (signal?.aborted) throw error;
    const details = { status: 0, code: 'NO_RESPONSE' };
    throw new Failure('No complete response arrived. Check your connection.', details);
  }
  const [error] = body.errors ?? [];
  const { status } = response;
  if (response.ok && error === undefined) {
    lastUsedMs = Date.now();
    return body;
  }
  const { code = `HTTP_${status}`, requestId } = error?.extensions ?? {};
  const seconds = response.headers.get('Retry-After');
  const retryAtMs = seconds === null ? null : Date.now() + Number(seconds) * 1000;
  throw new Failure(error?.message ?? `The server responded with ${status}.`, { status, code, requestId, retryAtMs });
}

/** Sends an operation. A 401 ends the session of this tab. */
export async function send<Result, Variables>(
  documentId: DocumentId<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result> {
  const sender = gate;
  try {
    return (await request<{ data: Result }>('POST', 'graphql', { documentId, variables }, signal)).data;
  } catch (error) {
    if (isEnd(error) && gate === sender && gate.kind === 'open')
      setGate({ kind: 'ended', returnUrl: gate.session.returnUrl });
    throw error;
  }
}

export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure(String(error), { status: 0, code: 'PAGE_ERROR' });
}

export interface Query<Result> {
  readonly data: Result | undefined;
  readonly failure: Failure | null;
  readonly reload: () => void;
}

let lastInputMs = Date.now();
for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => (lastInputMs = Date.now()), true);

/**
 * Sends a query, and sends it again every `pollMs` while the tab is visible and somebody used it within 10 minutes: a page that
 * is left open must not keep its session alive. Null as variables sends nothing.
 */
export function useQuery<Result, Variables>(
  documentId: DocumentId<Result, Variables>,
  variables: Variables | null,
  pollMs?: number | null,
): Query<Result> {
  const key = variables === null ? null : JSON.stringify(variables);
  const [state, setState] = useState<{ key: string | null; data?: Result; failure?: Failure }>({ key });
  const [round, setRound] = useState(0);
  const busy = useRef(false);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    const load = async () => {
      busy.current = true;
      try {
        const data = await send(documentId, JSON.parse(key), abort.signal);
        setState({ key, data });
      } catch (error) {
        const failure = failureOf(error);
        if (!abort.signal.aborted) setState((last) => ({ ...(last.key === key && last), key, failure }));
      } finally {
        if (!abort.signal.aborted) busy.current = false;
      }
    };
    void load();
    return () => abort.abort();
  }, [documentId, key, round]);
  useEffect(() => {
    if (!pollMs || key === null) return;
    const timer = setInterval(() => {
      const isWatched = document.visibilityState === 'visible' && Date.now() - lastInputMs < 600_000;
      if (isWatched && !busy.current) reload();
    }, pollMs);
    return () => clearInterval(timer);
  }, [key, pollMs, reload]);
  return {
    data: state.key === key ? state.data : undefined,
    failure: (state.key === key && state.failure) || null,
    reload,
  };
}

export interface UserError {
  readonly message: string;
  readonly code?: string;
  readonly field?: readonly string[] | null;
}

interface Mutation<Result, Variables> {
  readonly running: boolean;
  readonly failure: Failure | null;
  readonly userErrors: readonly UserError[];
  /** Returns null if the change failed, or if an earlier one is still running. A result with user errors is a refusal. */
  readonly run: (variables: () => Promise<Variables> | Variables) => Promise<Result | null>;
}

export function userErrorsOf(result: object): UserError[] {
  return Object.values(result).flatMap((payload: { userErrors: UserError[] }) => payload.userErrors);
}

export function useMutation<Result extends object, Variables>(
  documentId: DocumentId<Result, Variables>,
): Mutation<Result, Variables> {
  const idle = { running: false, failure: null, userErrors: [] };
  const [state, setState] = useState<Omit<Mutation<Result, Variables>, 'run'>>(idle);
  const running = useRef(false);
  const run: Mutation<Result, Variables>['run'] = async (variables) => {
    if (running.current) return null;
    running.current = true;
    setState({ ...idle, running: true });
    try {
      const result = await send(documentId, await variables());
      setState({ ...idle, userErrors: userErrorsOf(result) });
      return result;
    } catch (error) {
      setState({ ...idle, failure: failureOf(error) });
      return null;
    } finally {
      running.current = false;
    }
  };
  return { ...state, run };
}

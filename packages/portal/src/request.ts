import type { DocumentId } from './generated/documents.ts';
import { refusalIn } from './response.ts';
import { waitAfter } from './retry-after.ts';
import { base, gateNow, leaveSession, recordUse } from './session.ts';
import { startStopwatch } from './stopwatch.ts';

interface FailureDetails {
  readonly status: number;
  readonly code: string;
  readonly requestId?: string | undefined;
  /** How long to wait, from now on, before the request is sent again. Undefined if the server names no time. */
  readonly leftMs?: (() => number) | undefined;
  /** Something in front of Deedwire answered with a web page, which the browser shows when the page is loaded again. */
  readonly isPage?: boolean;
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

/** Whether Deedwire says that there is no session, or no longer. */
export function isEnd(error: unknown): boolean {
  return error instanceof Failure && error.details.code === 'UNAUTHENTICATED';
}

/** How often an operation was refused in a row, and the server named a time. */
const refusals = new Map<unknown, number>();
/** Of the bucket that the sessions of the account share. */
let pointsLeft = Infinity;

/** Whether more than half of the bucket is left, so that what a person does next is not refused. */
export function hasPoints(): boolean {
  return pointsLeft > 1000;
}

declare global {
  interface Window {
    /** What `reload.ts` requests while the scripts are loading: `GET`, and `<id of the session> <operation>`. */
    early?: { readonly sentMs: number; readonly responses: Map<string, Promise<Response>> } | undefined;
  }
}

/** One of a person who has gone elsewhere meanwhile is too old once the page is opened. */
const earlyMaxMs = 10_000;

/** Each is taken once. */
function takeEarly(name: string): Promise<Response> | undefined {
  if (!window.early || performance.now() - window.early.sentMs > earlyMaxMs) return undefined;
  const { responses } = window.early;
  const response = responses.get(name);
  responses.delete(name);
  return response;
}

/** @throws {Failure} for any response other than a success */
export async function request<Body>(
  method: string,
  path: string,
  input?: Readonly<Record<string, unknown>> & { readonly documentId?: string },
  signal?: AbortSignal,
): Promise<Body> {
  const headers: Record<string, string> = { Accept: 'application/graphql-response+json, application/json' };
  if (input !== undefined) headers['Content-Type'] = 'application/json';
  const gate = gateNow();
  if (gate.kind === 'open') headers['X-Portal-Session'] = gate.session.id;
  const init = { method, headers, body: input === undefined ? null : JSON.stringify(input), signal: signal ?? null };
  const operation = input?.documentId ?? method;
  const early = takeEarly(gate.kind === 'open' ? `${gate.session.id} ${operation}` : operation);
  const sent = early ?? fetch(base + path, { ...init, cache: 'no-store', redirect: 'manual' });
  const response = await sent.catch((error: unknown) => {
    if (signal?.aborted) throw error;
    const why = navigator.onLine ? 'Check your connection.' : 'This browser is offline.';
    throw new Failure(`No response arrived. ${why}`, { status: 0, code: 'NO_RESPONSE' });
  });
  signal?.throwIfAborted();
  const { status } = response;
  pointsLeft = Number(/;r=(\d+)/.exec(response.headers.get('RateLimit') ?? '')?.[1] ?? pointsLeft);
  if (response.type === 'opaqueredirect') {
    const message = 'A login in front of this page has ended. Reload to sign in.';
    throw new Failure(message, { status, code: 'REDIRECTED', isPage: true });
  }
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const text = await response.text().catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Failure(`The response (status ${status}) was cut off.`, { status, code: `HTTP_${status}`, requestId });
  });
  const refusal = refusalIn(
    response,
    text,
    path === 'graphql' ? 'result' : method === 'DELETE' ? 'nothing' : 'session',
  );
  if (refusal === null) {
    refusals.delete(operation);
    return JSON.parse(text || '{}');
  }
  const count = refusals.get(operation) ?? 0;
  const waitMs = waitAfter(response.headers.get('Retry-After') ?? '', count, Date.now(), Math.random());
  if (waitMs !== null) refusals.set(operation, count + 1);
  const passedMs = startStopwatch();
  const leftMs = waitMs === null ? undefined : () => waitMs - passedMs();
  const { message, ...said } = refusal;
  throw new Failure(message, { status, requestId, leftMs, ...said });
}

/** Sends an operation, which is a use of the session. A 401 of Deedwire ends the session of this tab. */
export async function send<Result, Variables>(
  documentId: DocumentId<Result, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Result> {
  const sender = gateNow();
  try {
    const { data } = await request<{ data: Result }>('POST', 'graphql', { documentId, variables }, signal);
    if (sender.kind === 'open' && gateNow() === sender) recordUse(sender.session);
    return data;
  } catch (error) {
    if (isEnd(error) && gateNow() === sender) leaveSession('ended', failureOf(error).details.requestId);
    throw error;
  }
}

export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure(String(error), { status: 0, code: 'PAGE_ERROR' });
}

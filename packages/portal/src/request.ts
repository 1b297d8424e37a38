import type { DocumentId } from './generated/documents.ts';
import { base, gateNow, recordUse, setGate } from './session.ts';

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
  const gate = gateNow();
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
    recordUse();
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
  const sender = gateNow();
  try {
    return (await request<{ data: Result }>('POST', 'graphql', { documentId, variables }, signal)).data;
  } catch (error) {
    if (isEnd(error) && gateNow() === sender && sender.kind === 'open')
      setGate({ kind: 'ended', returnUrl: sender.session.returnUrl });
    throw error;
  }
}

export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure(String(error), { status: 0, code: 'PAGE_ERROR' });
}

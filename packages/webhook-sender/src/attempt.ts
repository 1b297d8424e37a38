import { AttemptError } from './attempt-error.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { checkCallbackUrl } from './callback-url.ts';
import { connect } from './connect.ts';
import { type Connection, type ConnectionPool, openConnection } from './connection-pool.ts';
import { exchange, type PostRequest, type ReceivedResponse } from './exchange.ts';
import type { Resolve } from './resolve.ts';
import { vettedAddresses } from './vetted-addresses.ts';

export interface AttemptDependencies {
  readonly policy: CallbackPolicy;
  readonly resolve: Resolve;
  readonly pool: ConnectionPool;
  readonly timeoutMs: number;
}

/**
 * Sends one POST request, from the URL check to the end of the response body, within one deadline. A redirect is returned
 * like any other response.
 *
 * @throws {AttemptError} when no complete response is received, with any code.
 */
export async function attempt(
  target: string,
  request: Omit<PostRequest, 'path'>,
  { policy, resolve, pool, timeoutMs }: AttemptDependencies,
): Promise<ReceivedResponse> {
  const checked = checkCallbackUrl(target, policy);
  if (!checked.ok) throw new AttemptError('ADDRESS_FORBIDDEN', checked.message);
  const url = new URL(checked.href);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const { signal } = deadline;

  async function send(connection: Connection): Promise<ReceivedResponse> {
    const response = await exchange(connection, { ...request, path: url.pathname + url.search }, signal);
    pool.release(connection);
    return response;
  }

  try {
    const idle = pool.take(url.origin);
    if (idle !== null) {
      try {
        return await send(idle);
      } catch (error) {
        if (!closedBeforeResponse(error)) throw error;
        // A server may close an idle connection at any time, so the attempt continues on a new connection. If the
        // receiver did read the request, it receives the same webhook-id twice, as with any retry.
      }
    }
    const vettedAtMs = performance.now();
    const addresses = await vettedAddresses(url, policy, resolve, signal);
    return await send(openConnection(url, await connect(url, addresses, signal), vettedAtMs));
  } finally {
    clearTimeout(timer);
  }
}

function closedBeforeResponse(error: unknown): boolean {
  return error instanceof AttemptError && error.code === 'CONNECTION_FAILED' && error.responseStatus === null;
}

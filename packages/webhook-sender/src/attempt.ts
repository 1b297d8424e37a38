import { AttemptError } from './attempt-error.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { checkCallbackUrl } from './callback-url.ts';
import { connect } from './connect.ts';
import { type Connection, type ConnectionPool, openConnection } from './connection-pool.ts';
import { type Answer, exchange, type PostRequest } from './exchange.ts';
import type { Resolve } from './resolve.ts';
import { vettedAddresses } from './vetted-addresses.ts';

export interface AttemptDependencies {
  readonly policy: CallbackPolicy;
  readonly resolve: Resolve;
  readonly pool: ConnectionPool;
  readonly timeoutMs: number;
}

/**
 * One POST, guard to body, all before one deadline. Redirects are answers like others.
 * @throws AttemptError of any class
 */
export async function attempt(
  target: string,
  request: Omit<PostRequest, 'path'>,
  { policy, resolve, pool, timeoutMs }: AttemptDependencies,
): Promise<Answer> {
  const checked = checkCallbackUrl(target, policy);
  if (!checked.ok) throw new AttemptError('ADDRESS_FORBIDDEN', checked.message);
  const url = new URL(checked.href);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const { signal } = deadline;

  async function send(connection: Connection): Promise<Answer> {
    const answer = await exchange(connection, { ...request, path: url.pathname + url.search }, signal);
    pool.giveBack(connection);
    return answer;
  }

  try {
    const idle = pool.take(url.origin);
    if (idle !== null) {
      try {
        return await send(idle);
      } catch (error) {
        if (!closedBeforeAnswer(error)) throw error;
        // The receiver closed a connection that had waited too long, as any server may at any time. That is no failed
        // attempt. Should it have read the request nevertheless, it sees the same webhook-id twice, as with any retry.
      }
    }
    const vettedAtMs = performance.now();
    const addresses = await vettedAddresses(url, policy, resolve, signal);
    return await send(openConnection(url, await connect(url, addresses, signal), vettedAtMs));
  } finally {
    clearTimeout(timer);
  }
}

function closedBeforeAnswer(error: unknown): boolean {
  return error instanceof AttemptError && error.code === 'CONNECTION_FAILED' && error.responseStatus === null;
}

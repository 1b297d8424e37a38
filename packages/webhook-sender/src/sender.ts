import { randomBytes } from 'node:crypto';
import { signWebhook } from '@deedwire/webhook-signing';
import { AttemptError, type AttemptErrorClass } from './attempt-error.ts';
import { attempt } from './attempt.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { checkCallbackUrl } from './callback-url.ts';
import { createConnectionPool } from './connection-pool.ts';
import type { ReceivedResponse } from './exchange.ts';
import { classifyFailure, classifyResponse, type HandshakeResult } from './handshake-result.ts';
import { requestHeaders } from './request-headers.ts';
import { type Resolve, resolverFor } from './resolve.ts';

export interface WebhookSenderOptions {
  policy: CallbackPolicy;
  /** The `User-Agent` of every request. */
  userAgent: string;
  /** The deadline of an attempt, from DNS to the end of the response body. Defaults to 5000. */
  timeoutMs?: number | undefined;
  now?: (() => Date) | undefined;
  /** Defaults to DNS under `public` and to the system resolver under `development`. Its results are vetted. */
  resolve?: Resolve | undefined;
  /** The value of NODE_TLS_REJECT_UNAUTHORIZED in the environment. */
  nodeTlsRejectUnauthorized?: string | undefined;
}

export interface Delivery {
  url: string;
  /** The `webhook-id`, the same for every attempt. */
  webhookId: string;
  /** The exact bytes to sign and to send. */
  body: Uint8Array;
  secret: string;
  /** The new secret during a rotation. */
  nextSecret?: string | undefined;
  /** Additional headers, such as X-Service-Webhook-Event. They cannot override the headers that the sender sets. */
  headers: Readonly<Record<string, string>>;
}

export interface AttemptResult {
  startedAt: Date;
  durationMs: number;
  /** Null if no response headers were received. Can be set together with `error`. */
  responseStatus: number | null;
  /** Null if a complete response with any status was received. Otherwise ignore the status. */
  error: AttemptErrorClass | null;
  /** The `Retry-After` header of the response, unparsed. Null if the response has none. */
  retryAfter: string | null;
}

export interface WebhookSender {
  /** Makes one attempt. Never rejects. */
  readonly deliver: (delivery: Delivery) => Promise<AttemptResult>;
  /** Performs the handshake: sends a new token and expects it in the response. Never rejects. */
  readonly verify: (subscription: { url: string; secret: string }) => Promise<HandshakeResult>;
  /** Waits for the attempts in flight, at most until their deadlines, and closes all connections. */
  readonly close: () => Promise<void>;
}

/** The environment disables certificate verification, which the `public` policy does not allow. */
export class TlsVerificationOffError extends Error {
  override readonly name = 'TlsVerificationOffError';
  readonly code = 'TLS_VERIFICATION_OFF';

  constructor() {
    super('NODE_TLS_REJECT_UNAUTHORIZED=0 disables certificate verification. Unset it.');
  }
}

/** @throws {TlsVerificationOffError} when the policy is `public` and NODE_TLS_REJECT_UNAUTHORIZED is 0. */
export function createWebhookSender({
  policy,
  userAgent,
  timeoutMs = 5000,
  now = () => new Date(),
  resolve = resolverFor(policy),
  nodeTlsRejectUnauthorized,
}: WebhookSenderOptions): WebhookSender {
  // The sender always verifies certificates, but other connections of the process, which hold secrets, would not.
  if (policy === 'public' && nodeTlsRejectUnauthorized === '0') throw new TlsVerificationOffError();
  const pool = createConnectionPool();
  const inFlight = new Set<Promise<unknown>>();

  async function post({ url, webhookId, body, secret, nextSecret, headers }: Delivery): Promise<ReceivedResponse> {
    const timestamp = Math.floor(now().getTime() / 1000);
    const ours = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': userAgent };
    const signature = signWebhook({ id: webhookId, timestamp, body, secret, nextSecret });
    return attempt(
      url,
      { headers: requestHeaders(headers, ours, signature), body },
      { policy, resolve, pool, timeoutMs },
    );
  }

  async function deliver(delivery: Delivery): Promise<AttemptResult> {
    const startedAt = now();
    const startMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startMs);
    try {
      const { status, headers } = await post(delivery);
      const retryAfter = headers.get('retry-after') ?? null;
      return { startedAt, durationMs: durationMs(), responseStatus: status, error: null, retryAfter };
    } catch (error) {
      const { code, responseStatus } = asAttemptError(error);
      return { startedAt, durationMs: durationMs(), responseStatus, error: code, retryAfter: null };
    }
  }

  async function verify({ url, secret }: { url: string; secret: string }): Promise<HandshakeResult> {
    const checked = checkCallbackUrl(url, policy);
    if (!checked.ok) return { verified: false, code: checked.code, message: checked.message };
    const token = randomBytes(32).toString('base64url');
    try {
      const response = await post({
        url: checked.href,
        webhookId: `handshake_${randomBytes(16).toString('hex')}`,
        body: Buffer.from(JSON.stringify({ verification_token: token })),
        secret,
        headers: {},
      });
      return classifyResponse(response, { token, secret });
    } catch (error) {
      return classifyFailure(asAttemptError(error), timeoutMs);
    }
  }

  async function tracked<Result>(work: Promise<Result>): Promise<Result> {
    inFlight.add(work);
    try {
      return await work;
    } finally {
      inFlight.delete(work);
    }
  }

  return {
    deliver: (delivery) => tracked(deliver(delivery)),
    verify: (subscription) => tracked(verify(subscription)),
    async close() {
      pool.close();
      await Promise.all(inFlight);
    },
  };
}

/** Any other error means that the request could not be built, for example from a malformed secret or id. */
function asAttemptError(error: unknown): AttemptError {
  return error instanceof AttemptError
    ? error
    : new AttemptError('PROTOCOL_ERROR', 'The request could not be built. Check the id, the secret and the headers.', {
        cause: error,
      });
}

import { randomBytes } from 'node:crypto';
import { signWebhook } from '@deedwire/webhook-signing';
import { AttemptError, type AttemptErrorClass } from './attempt-error.ts';
import { attempt } from './attempt.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import { checkCallbackUrl } from './callback-url.ts';
import { createConnectionPool } from './connection-pool.ts';
import type { Answer } from './exchange.ts';
import { type HandshakeOutcome, judgeAnswer, judgeFailure } from './handshake-verdict.ts';
import { requestHeaders } from './request-headers.ts';
import { type Resolve, resolverFor } from './resolve.ts';

export interface WebhookSenderOptions {
  policy: CallbackPolicy;
  /** The `User-Agent` of every request. */
  userAgent: string;
  /** For everything from DNS to the end of the body. Default 5000. */
  timeoutMs?: number | undefined;
  now?: (() => Date) | undefined;
  /** Default: DNS under `public`, the system's resolver under `development`. Its answers are vetted. */
  resolve?: Resolve | undefined;
  /** The environment's NODE_TLS_REJECT_UNAUTHORIZED. */
  nodeTlsRejectUnauthorized?: string | undefined;
}

export interface Delivery {
  url: string;
  /** The `webhook-id`: the same on every attempt. */
  webhookId: string;
  /** Sent and signed as it is. */
  body: Uint8Array;
  secret: string;
  /** During a rotation: the secret that takes over. */
  nextSecret?: string | undefined;
  /** Further headers, such as X-Service-Webhook-Event. They do not replace ours. */
  headers: Readonly<Record<string, string>>;
}

export interface AttemptOutcome {
  startedAt: Date;
  durationMs: number;
  /** null when no answer came; there also beside an error that came after the headers of the answer */
  responseStatus: number | null;
  /** null when a complete answer came, whatever its status: only then the status counts */
  error: AttemptErrorClass | null;
  /** The answer's `Retry-After` as it came, null without one */
  retryAfter: string | null;
}

export interface WebhookSender {
  /** One attempt. Never rejects. */
  readonly deliver: (delivery: Delivery) => Promise<AttemptOutcome>;
  /** The handshake: sends a fresh token and wants it back. Never rejects. */
  readonly verify: (subscription: { url: string; secret: string }) => Promise<HandshakeOutcome>;
  /** Waits for the attempts under way, each at most its deadline, and closes every connection. */
  readonly close: () => Promise<void>;
}

/** The environment switches the verification of certificates off, which `public` does not allow. */
export class TlsVerificationOffError extends Error {
  override readonly name = 'TlsVerificationOffError';
  readonly code = 'TLS_VERIFICATION_OFF';

  constructor() {
    super('NODE_TLS_REJECT_UNAUTHORIZED=0 switches the verification of certificates off. Unset it.');
  }
}

/** @throws TlsVerificationOffError */
export function createWebhookSender({
  policy,
  userAgent,
  timeoutMs = 5000,
  now = () => new Date(),
  resolve = resolverFor(policy),
  nodeTlsRejectUnauthorized,
}: WebhookSenderOptions): WebhookSender {
  // Our own connections verify anyway; a process that runs like this is not fit to hold secrets.
  if (policy === 'public' && nodeTlsRejectUnauthorized === '0') throw new TlsVerificationOffError();
  const pool = createConnectionPool();
  const underWay = new Set<Promise<unknown>>();

  async function post({ url, webhookId, body, secret, nextSecret, headers }: Delivery): Promise<Answer> {
    const timestamp = Math.floor(now().getTime() / 1000);
    const ours = { 'content-type': 'application/json', 'accept-encoding': 'identity', 'user-agent': userAgent };
    const signature = signWebhook({ id: webhookId, timestamp, body, secret, nextSecret });
    return attempt(
      url,
      { headers: requestHeaders(headers, ours, signature), body },
      { policy, resolve, pool, timeoutMs },
    );
  }

  async function deliver(delivery: Delivery): Promise<AttemptOutcome> {
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

  async function verify({ url, secret }: { url: string; secret: string }): Promise<HandshakeOutcome> {
    const checked = checkCallbackUrl(url, policy);
    if (!checked.ok) return { verified: false, code: checked.code, message: checked.message };
    const token = randomBytes(32).toString('base64url');
    try {
      const answer = await post({
        url: checked.href,
        webhookId: `handshake_${randomBytes(16).toString('hex')}`,
        body: Buffer.from(JSON.stringify({ verification_token: token })),
        secret,
        headers: {},
      });
      return judgeAnswer(answer, { token, secret });
    } catch (error) {
      return judgeFailure(asAttemptError(error), timeoutMs);
    }
  }

  async function tracked<Outcome>(work: Promise<Outcome>): Promise<Outcome> {
    underWay.add(work);
    try {
      return await work;
    } finally {
      underWay.delete(work);
    }
  }

  return {
    deliver: (delivery) => tracked(deliver(delivery)),
    verify: (subscription) => tracked(verify(subscription)),
    async close() {
      pool.close();
      await Promise.all(underWay);
    },
  };
}

/** What is no AttemptError is a request that could not be made from what we were given: a malformed secret, a bad id. */
function asAttemptError(error: unknown): AttemptError {
  return error instanceof AttemptError
    ? error
    : new AttemptError('PROTOCOL_ERROR', 'The request could not be made.', { cause: error });
}

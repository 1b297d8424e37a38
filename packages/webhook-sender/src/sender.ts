import { randomBytes } from 'node:crypto';
import {
  signWebhook,
  type SignWebhookOptions,
  type WebhookHeaders,
  WebhookUsageError,
} from '@deedwire/webhook-signing';
import type { AttemptCause } from './attempt-cause.ts';
import { AttemptError, type AttemptErrorClass, type HostProblem, type ProxyProblem } from './attempt-error.ts';
import { createAttemptTimeouts } from './attempt-timeouts.ts';
import type { Call } from './call.ts';
import type { CallbackPolicy } from './callback-policy.ts';
import type { DeniedRanges } from './callback-rules.ts';
import { type CallbackUrlCheck, checkCallbackUrl } from './callback-url.ts';
import { createConnectionPool } from './connection-pool.ts';
import type { DetailsPolicy } from './details-policy.ts';
import { detailsOf, type ExchangeDetails } from './exchange-details.ts';
import { classifyFailure, classifyResponse, type HandshakeResult } from './handshake-result.ts';
import { headerMask, type SecretHeader } from './header-mask.ts';
import { type Interceptor, interceptorOf } from './interceptor.ts';
import { egressProxy } from './proxy-tunnel.ts';
import { headerList } from './request-headers.ts';
import { type Resolve, resolverFor } from './resolve.ts';
import { type Attempt, type OnAttemptEnd, startAttempt } from './start-attempt.ts';

export interface WebhookSenderOptions {
  policy: CallbackPolicy;
  /** Denied whatever the policy. Defaults to none. */
  deniedRanges?: DeniedRanges | undefined;
  /** As in `CallbackRules`. */
  nat64Prefix?: string | undefined;
  /** The `User-Agent` of every request. */
  userAgent: string;
  /** What the names of the service's own headers begin with, for example `X-Service`. */
  headerPrefix: string;
  /** The deadline of a handshake, and of an attempt whose target has none, from DNS to the end of the response body. Defaults to 5000. */
  timeoutMs?: number | undefined;
  /** The maximum number of idle connections to keep, at most 16 of them per origin. Defaults to 256. */
  maxIdleConnections?: number | undefined;
  now?: (() => Date) | undefined;
  /** Defaults to DNS under `public` and to the system resolver under `development`. Its results are vetted. */
  resolve?: Resolve | undefined;
  /**
   * The HTTP proxy through which all connections are opened, `http` or `https`, with or without credentials. Names of receivers are
   * still resolved and vetted here: the proxy is asked for addresses. Defaults to direct connections.
   */
  proxyUrl?: URL | undefined;
  /** The value of NODE_TLS_REJECT_UNAUTHORIZED in the environment. */
  nodeTlsRejectUnauthorized?: string | undefined;
}

export interface WebhookTarget {
  url: string;
  secret: string;
  /** The new secret during a rotation. */
  nextSecret?: string | undefined;
  /** The deadline of an attempt. Defaults to that of the sender. */
  timeoutMs?: number | undefined;
  /** A header of every request whose value no result contains. Headers of the same name that are not secret override it. */
  secretHeader?: SecretHeader | undefined;
  /** Headers of every request, such as X-Service-Webhook-Subscription-Id. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface HandshakeTarget extends Pick<WebhookTarget, 'nextSecret' | 'secret' | 'secretHeader' | 'url'> {
  /** The message of a failure then quotes no header and no body. */
  hidesResponse?: boolean;
}

export interface Delivery {
  /** The `webhook-id`, the same for every attempt. */
  webhookId: string;
  /** The exact bytes to sign and to send. */
  body: Uint8Array;
  /**
   * Headers of this request, such as X-Service-Webhook-Attempt. They override the headers of the target, and cannot
   * override the headers that the sender sets.
   */
  headers: Readonly<Record<string, string>>;
  /** Which details of the attempt to report. None by default. */
  details?: DetailsPolicy | undefined;
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
  /** What `error` has as its cause. Omitted if that is not known, or must not be shown. */
  cause?: AttemptCause;
  /** Omitted unless the response shows that something in front of the receiver refused the request. */
  interceptor?: Interceptor;
  /** For the log of the operator. Omitted unless the host name could not be called. */
  hostProblem?: HostProblem;
  /** Omitted unless the proxy did not open a tunnel. */
  proxyProblem?: ProxyProblem;
  /** What was sent and received. Omitted if the policy of the delivery does not want it. */
  exchange?: ExchangeDetails;
}

/** A callback URL with its secrets, checked once for many attempts. */
export interface PreparedTarget {
  /** Makes one attempt. Rejects only for a bug: whatever network and receiver do, and a malformed secret or header, is a result. */
  readonly deliver: (delivery: Delivery) => Promise<AttemptResult>;
}

export interface WebhookSender {
  /** Checks a callback URL without DNS, as before every attempt. */
  readonly check: (url: string) => CallbackUrlCheck;
  /** Never throws: the attempts of an invalid target fail. Keep the result as long as the target does not change. */
  readonly target: (target: WebhookTarget) => PreparedTarget;
  /**
   * Performs the handshake: sends a new token and expects it in the response. Rejects with `EgressUnavailableError` if our proxy could not
   * be reached or refused, and with any other error for a bug.
   */
  readonly verify: (subscription: HandshakeTarget) => Promise<HandshakeResult>;
  /** Waits for the attempts in flight, at most until their deadlines, and closes all connections. */
  readonly close: () => Promise<void>;
}

type Post = (delivery: Delivery, startMs: number, onEnd: OnAttemptEnd) => void;

const wholeResponse: DetailsPolicy = { keeps: () => true, takeBytes: () => true, returnBytes() {} };

/** The environment disables certificate verification, which the `public` policy does not allow. */
export class TlsVerificationOffError extends Error {
  override readonly name = 'TlsVerificationOffError';
  readonly code = 'TLS_VERIFICATION_OFF';

  constructor() {
    super('NODE_TLS_REJECT_UNAUTHORIZED=0 disables certificate verification. Unset it.');
  }
}

/** Our proxy could not be reached or refused, so nothing was asked of the receiver. */
export class EgressUnavailableError extends Error {
  override readonly name = 'EgressUnavailableError';
  readonly code = 'EGRESS_UNAVAILABLE';

  constructor({ found }: ProxyProblem) {
    super(found);
  }
}

/** @throws {TlsVerificationOffError} when the policy is `public` and NODE_TLS_REJECT_UNAUTHORIZED is 0. */
export function createWebhookSender({
  policy,
  deniedRanges = { includes: () => false },
  nat64Prefix,
  userAgent,
  headerPrefix,
  timeoutMs = 5000,
  maxIdleConnections,
  now = () => new Date(),
  resolve = resolverFor(policy),
  proxyUrl,
  nodeTlsRejectUnauthorized,
}: WebhookSenderOptions): WebhookSender {
  // The sender always verifies certificates, but other connections of the process, which hold secrets, would not.
  if (policy === 'public' && nodeTlsRejectUnauthorized === '0') throw new TlsVerificationOffError();
  const pool = createConnectionPool(maxIdleConnections);
  const rules = { policy, deniedRanges, nat64Prefix };
  const proxy = proxyUrl === undefined ? null : egressProxy(proxyUrl);
  const dependencies = { rules, resolve, proxy, pool, deadlines: createAttemptTimeouts() };
  let inFlight = 0;
  const closing: (() => void)[] = [];

  function prepare(target: WebhookTarget): Post {
    const { url, secret, nextSecret, secretHeader, headers = {}, timeoutMs: ofTarget = timeoutMs } = target;
    const checked = checkCallbackUrl(url, rules);
    if (!checked.ok) throw new AttemptError('URL_FORBIDDEN', checked.message);
    const parsed = new URL(checked.href);
    const { origin } = parsed;
    const path = parsed.pathname + parsed.search;
    const list = headerList(
      secretHeader === undefined ? headers : { [secretHeader.name]: secretHeader.value, ...headers },
      userAgent,
      headerPrefix,
    );
    const mask = secretHeader === undefined ? null : headerMask(secretHeader);
    return (delivery, startMs, onEnd) => {
      const { webhookId, body, details = null } = delivery;
      const timestamp = Math.floor(now().getTime() / 1000);
      const signature = sign({ id: webhookId, timestamp, body, secret, nextSecret, prefix: headerPrefix });
      const allHeaders = list(delivery.headers, signature);
      const request = {
        url: parsed,
        origin,
        path,
        headers: allHeaders,
        body,
        policy: details,
        timeoutMs: ofTarget,
        mask,
      };
      startAttempt(dependencies, request, startMs, onEnd);
    };
  }

  /** Returns a function that sends requests to the target, and reports its problems as the result of every attempt. */
  function poster(target: WebhookTarget): Post {
    let post: Post;
    try {
      post = prepare(target);
    } catch (error) {
      post = () => {
        throw error;
      };
    }
    return (delivery, startMs, onEnd) => {
      inFlight += 1;
      const end: OnAttemptEnd = (response, error, attempt) => {
        onEnd(response, error, attempt);
        inFlight -= 1;
        if (inFlight === 0) for (const closed of closing.splice(0)) closed();
      };
      try {
        post(delivery, startMs, end);
      } catch (error) {
        end(null, error, null);
      }
    };
  }

  function deliver(post: Post, delivery: Delivery): Promise<AttemptResult> {
    const { promise, resolve: settle, reject } = Promise.withResolvers<AttemptResult>();
    try {
      const startedAt = now();
      const startMs = performance.now();
      post(delivery, startMs, settling(resultOf(startedAt, startMs, delivery.details !== undefined), settle, reject));
    } catch (error) {
      reject(error);
    }
    return promise;
  }

  async function verify(target: HandshakeTarget): Promise<HandshakeResult> {
    const { url, secret, nextSecret, secretHeader, hidesResponse } = target;
    const checked = checkCallbackUrl(url, rules);
    if (!checked.ok) return { verified: false, code: checked.code, message: checked.message };
    const token = randomBytes(32).toString('base64url');
    const delivery = {
      webhookId: `handshake_${randomBytes(16).toString('hex')}`,
      body: Buffer.from(JSON.stringify({ verification_token: token })),
      headers: {},
      details: wholeResponse,
    };
    const read = (ended: Call | AttemptError): HandshakeResult => {
      if (!(ended instanceof AttemptError))
        return classifyResponse(
          ended.response(),
          { token, secret, nextSecret, hidesResponse, mask: secretHeader && headerMask(secretHeader) },
          new URL(checked.href),
        );
      const { proxyProblem } = ended;
      if (proxyProblem !== null && !proxyProblem.mayBeReceiver) throw new EgressUnavailableError(proxyProblem);
      return classifyFailure(ended, timeoutMs);
    };
    return new Promise((settle, reject) => {
      poster({ url: checked.href, secret, nextSecret, secretHeader })(
        delivery,
        performance.now(),
        settling(read, settle, reject),
      );
    });
  }

  return {
    check: (url) => checkCallbackUrl(url, rules),
    target(target) {
      const post = poster(target);
      return { deliver: (delivery) => deliver(post, delivery) };
    },
    verify,
    close() {
      pool.close();
      return inFlight === 0 ? Promise.resolve() : new Promise((resolveClose) => closing.push(resolveClose));
    },
  };
}

/** @throws {AttemptError} when a secret is malformed: `PROTOCOL_ERROR`. Any other error is a bug. */
function sign(options: SignWebhookOptions): WebhookHeaders {
  try {
    return signWebhook(options);
  } catch (error) {
    if (!WebhookUsageError.isInstance(error) || error.code !== 'SECRET_INVALID') throw error;
    const details = { attemptCause: 'REQUEST_NOT_SENT', cause: error } as const;
    throw new AttemptError('PROTOCOL_ERROR', `The request could not be signed. ${error.message}`, details);
  }
}

/** What an attempt has ended with, and the attempt, which is null if no request could be built. */
type ReadEnd<Result> = (ended: Call | AttemptError, attempt: Attempt | null) => Result;

/** Resolves with what `read` returns. Rejects for a bug, including one of `read`. */
function settling<Result>(
  read: ReadEnd<Result>,
  settle: (result: Result) => void,
  reject: (error: unknown) => void,
): OnAttemptEnd {
  return (response, error, attempt) => {
    try {
      if (response !== null) settle(read(response, attempt));
      else if (error instanceof AttemptError) settle(read(error, attempt));
      else reject(error);
    } catch (problem) {
      reject(problem);
    }
  };
}

/** A separate function, so that an attempt in flight does not keep its delivery. */
function resultOf(startedAt: Date, startMs: number, wantsDetails: boolean): ReadEnd<AttemptResult> {
  return (ended, attempt) => {
    const [response, error] = ended instanceof AttemptError ? [null, ended] : [ended, null];
    const isReported = wantsDetails && (response === null || response.isKept);
    const interceptor = response === null || attempt === null ? null : interceptorIn(response, attempt);
    return {
      startedAt,
      durationMs: Math.round(performance.now() - startMs),
      responseStatus: response === null ? (error?.responseStatus ?? null) : response.status,
      error: error?.code ?? null,
      retryAfter: response === null ? null : response.header('retry-after'),
      ...(error?.attemptCause && { cause: error.attemptCause }),
      ...(interceptor && { interceptor }),
      ...(error?.hostProblem && { hostProblem: error.hostProblem }),
      ...(error?.proxyProblem && { proxyProblem: error.proxyProblem }),
      ...(isReported && { exchange: detailsOf(attempt) }),
    };
  };
}

/** Null for 2xx: it acknowledges the delivery, even if something in front of the receiver sent it. */
function interceptorIn(response: Call, { request }: Attempt): Interceptor | null {
  const status = response.status ?? 0;
  if (status >= 200 && status < 300) return null;
  const body = response.keptBody()?.toString() ?? '';
  return interceptorOf(request.url, { status, header: (name) => response.header(name), body });
}

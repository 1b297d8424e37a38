import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing/web';
import { eventHeaders } from './event-headers.ts';
import { eventNameProblem } from './event-name-problem.ts';
import type { EventOf, EventPackage } from './events.ts';
import type { EventAt } from './handlers.ts';

export interface SignedRequestOptions {
  /** Of the subscription. Defaults to `testSecret`. */
  secret?: string;
  /** The secret that takes over, during a rotation. */
  nextSecret?: string;
  /** The `webhook-id`. Defaults to a new one. The same id simulates a repeated delivery. */
  id?: string;
  /** How many seconds ago the request was signed. Negative: by a clock that is ahead. Defaults to 0. */
  age?: number;
  /** That of the receiver. Without it, the request has the headers of Standard Webhooks only. */
  prefix?: string;
  /** Whether it is a test event, as `sendTestWebhookEvent` sends it. */
  isTest?: boolean;
  /** Whether a retry or a replay sends it again. */
  isReplay?: boolean;
  /** Changes the body after it was signed. */
  tamper?: (body: string) => string;
  /** Defaults to `http://localhost/webhooks`. */
  url?: string;
}

/** The secret with which requests are signed unless another is passed. It differs in each process. */
export const testSecret: string = sharedSecret();

/** Kept under a registered symbol, because a process can contain several copies of this module. */
function sharedSecret(): string {
  const key = Symbol.for('@deedwire/webhook-receiver/testSecret');
  const existing: unknown = Reflect.get(globalThis, key);
  if (typeof existing === 'string') return existing;
  const created = generateWebhookSecret();
  Reflect.set(globalThis, key, created);
  return created;
}

/**
 * A delivery of an event as Deedwire sends it.
 *
 * @param events the package with the payloads of the service
 * @throws {TypeError} if there is no such type or version
 */
export async function signedRequest<
  Events extends EventPackage,
  const Type extends EventOf<Events>['type'],
  const Version extends Extract<EventOf<Events>, { type: Type }>['version'],
>(
  events: Events,
  type: Type,
  version: Version,
  data: EventAt<EventOf<Events>, Type, Version>['data'],
  options: SignedRequestOptions = {},
): Promise<Request> {
  const problem = eventNameProblem(events.parsedEventNames(), type, version);
  if (problem !== null) throw new TypeError(problem);
  const number = `${Date.now()}${Math.floor(Math.random() * 1e6)}`;
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ id: `gid://service/WebhookEvent/${number}`, type, version, timestamp, data });
  const id = options.id ?? `gid://service/WebhookDelivery/${number}`;
  const named = eventHeaders(options.prefix, {
    event: type,
    'event-version': version,
    'subscription-id': 'gid://service/WebhookSubscription/1',
    sequence: '1',
    attempt: '1',
    ...(options.isTest === true && { test: 'true' }),
    ...(options.isReplay === true && { replay: 'true' }),
  });
  return post(body, id, options, named);
}

/** The handshake of a new subscription. */
export function handshakeRequest(options: SignedRequestOptions & { token?: string } = {}): Promise<Request> {
  const { token = 'a-token-of-a-test-0123456789' } = options;
  return post(JSON.stringify({ verification_token: token }), options.id ?? 'handshake_0123456789', options, {});
}

async function post(
  body: string,
  id: string,
  options: SignedRequestOptions,
  named: Readonly<Record<string, string>>,
): Promise<Request> {
  const { secret = testSecret, nextSecret, prefix, age = 0, tamper, url = 'http://localhost/webhooks' } = options;
  const timestamp = Math.floor(Date.now() / 1000) - age;
  const signatures = await signWebhook({ id, timestamp, body, secret, nextSecret, prefix });
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Deedwire-Webhooks/test',
      ...named,
      ...signatures,
    },
    body: tamper === undefined ? body : tamper(body),
  });
}

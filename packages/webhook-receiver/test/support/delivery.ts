import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { signWebhook } from '@deedwire/webhook-signing';
import type { Handlers } from '../../src/handlers.ts';
import type * as events from './order-events/index.ts';
import { typicalBodies } from './order-events/typical-bodies.ts';

export const secret = 'whsec_b2xkIHNlY3JldCBvZiBhIHRlc3QgMDEyMzQ1Njc4OTA=';
export const newSecret = 'whsec_bmV3IHNlY3JldCBvZiBhIHRlc3QgMDEyMzQ1Njc4OTA=';

/** A typical event for which the receivers of the tests have a handler. */
export const placed = typicalBodies['order.placed']['2026-11-01'];

type OnPlaced<Transaction> = NonNullable<
  NonNullable<Handlers<events.WebhookEvent, Transaction>['order.placed']>['2026-11-01']
>;

/** Handlers for this event only. */
export function handling<Transaction>(handler: OnPlaced<Transaction>): Handlers<events.WebhookEvent, Transaction> {
  return { 'order.placed': { '2026-11-01': handler } };
}

export interface Delivery {
  method: string;
  /** An array sends the header more than once, undefined omits it. */
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
}

export interface DeliveryOptions {
  body?: Uint8Array | object | string;
  id?: string;
  ageSeconds?: number;
  secret?: string;
  nextSecret?: string;
  headers?: OutgoingHttpHeaders;
}

let deliveries = 0;

/** A signed request of a worker. */
export function deliveryOf(options: DeliveryOptions = {}): Delivery {
  const { body: content = placed, ageSeconds = 0, headers = {} } = options;
  deliveries += 1;
  const body = bytesOf(content);
  const signatures = signWebhook({
    prefix: 'X-Service',
    id: options.id ?? `gid://service/WebhookDelivery/${process.pid}${deliveries}`,
    timestamp: Math.floor(Date.now() / 1000) - ageSeconds,
    body,
    secret: options.secret ?? secret,
    nextSecret: options.nextSecret,
  });
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-webhook-subscription-id': 'gid://service/WebhookSubscription/7',
      'x-service-webhook-sequence': '12',
      'x-service-webhook-attempt': '3',
      ...signatures,
      ...headers,
    },
    body,
  };
}

function bytesOf(content: Uint8Array | object | string): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
}

/** For receivers without a server. */
export function asRequest({ method, headers, body }: Delivery): Request {
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request('http://localhost/webhooks', { method, headers: named, body: Buffer.from(body) });
}

/** Without the headers of any signature. */
export function unsignedOf(body: object): Delivery {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: bytesOf(body) };
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  text: string;
  /** Undefined if the body is not JSON. */
  json: unknown;
}

export function send(url: string, { method, headers, body }: Delivery): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const present = Object.entries(headers).filter(([, value]) => value !== undefined);
  const request = httpRequest(url, {
    method,
    headers: { ...Object.fromEntries(present), 'content-length': body.byteLength },
    agent: false,
  });
  request.on('error', reject);
  request.on('response', (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
    });
  });
  request.end(body);
  return promise;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { OutgoingHttpHeaders } from 'node:http';
import { webhookEventTypes } from '@deedwire/webhook-events/registry';
import { signWebhook } from '@deedwire/webhook-signing';
import { type EventHeaders, eventHeaders } from '../event-headers.ts';
import { eventNameProblem } from '../event-name-problem.ts';
import { typicalBodies } from '../generated/typical-bodies.ts';
import { UsageError } from './shell.ts';

export interface EventBody {
  id: string;
  type: string;
  version: string;
  timestamp: string;
  data: Record<string, unknown>;
}

let count = 0;

/** A number that no other run has. */
export function newNumber(): string {
  count += 1;
  return `${Date.now()}${String(Math.floor(Math.random() * 1e3)).padStart(3, '0')}${count}`;
}

/**
 * A new event with the sample data of its type.
 *
 * @param version defaults to the one that a new subscription pins
 * @throws {UsageError} if there is no such type or version
 */
export function sampleEvent(type: string, version?: string): EventBody {
  const types: Readonly<Record<string, Readonly<Record<string, { data: object }>>>> = typicalBodies;
  const registered = webhookEventTypes.find((each) => each.type === type)?.versions ?? [];
  const pinned = registered.filter(({ status }) => status === 'current').at(-1) ?? registered.at(-1);
  const chosen = version ?? pinned?.version ?? '';
  const names = Object.entries(types).flatMap(([name, versions]) =>
    Object.keys(versions).map((each) => `${name}/${each}`),
  );
  const problem = eventNameProblem(names, type, chosen);
  if (problem !== null) throw new UsageError(problem);
  const data: Record<string, unknown> = { ...structuredClone(types[type]?.[chosen]?.data) };
  const id = `gid://service/WebhookEvent/${newNumber()}`;
  return { id, type, version: chosen, timestamp: new Date().toISOString(), data };
}

export function newDeliveryId(): string {
  return `gid://service/WebhookDelivery/${newNumber()}`;
}

export interface Signing {
  /** Of the service's own headers. Undefined: only those of Standard Webhooks are sent. */
  readonly prefix?: string | undefined;
  readonly secret: string;
  readonly nextSecret?: string | undefined;
  /** The `webhook-id`. Defaults to a new one. */
  readonly id?: string;
  /** How many seconds ago it was signed. */
  readonly ageSeconds?: number;
  /** Marks it as `sendTestWebhookEvent` does. */
  readonly isTest?: boolean;
}

/**
 * The headers of a delivery, as a worker sends them.
 *
 * @param sent in place of what the first attempt of the first delivery has
 */
export function deliveryHeaders(
  body: Uint8Array,
  { secret, nextSecret, id, prefix, ageSeconds = 0, isTest = false }: Signing,
  event: Pick<EventBody, 'type' | 'version'> | null,
  sent: Partial<EventHeaders> = {},
): OutgoingHttpHeaders {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds;
  const signed = signWebhook({ id: id ?? newDeliveryId(), timestamp, body, secret, nextSecret, prefix });
  const named =
    event !== null &&
    eventHeaders(prefix, {
      event: event.type,
      'event-version': event.version,
      'subscription-id': 'gid://service/WebhookSubscription/1',
      sequence: '1',
      attempt: '1',
      ...sent,
      ...(isTest && { test: 'true' }),
    });
  return { 'content-type': 'application/json', 'user-agent': 'Deedwire-Webhooks/test', ...named, ...signed };
}

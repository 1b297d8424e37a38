import type { OutgoingHttpHeaders } from 'node:http';
import { signWebhook } from '@deedwire/webhook-signing';
import { type EventHeaders, eventHeaders } from '../event-headers.ts';
import { eventNameProblem } from '../event-name-problem.ts';
import { testEvent } from '../generated/test-event.ts';
import type { InstalledEvents } from './event-package.ts';
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

/** The only event of every service, whose sample needs no package. */
const ofEveryService: ReadonlyMap<string, { readonly data: object }> = new Map([
  [`${testEvent.type}/${testEvent.version}`, testEvent],
]);

/**
 * A new event with the sample data of its type.
 *
 * @param events the package with the type. Null: only `webhook.test` is known
 * @param version defaults to the one that a new subscription pins
 * @throws {UsageError} if there is no such type or version
 */
export function sampleEvent(events: InstalledEvents | null, type: string, version?: string): EventBody {
  const samples = events?.examples ?? ofEveryService;
  const names = [...samples.keys()];
  const [newest = ''] = names.filter((name) => name.startsWith(`${type}/`)).slice(-1);
  const chosen = version ?? events?.currentVersion(type) ?? newest.slice(type.length + 1);
  const problem = eventNameProblem(names, type, chosen);
  if (problem !== null && events === null)
    throw new UsageError(`pass --events <package> for another event than ${testEvent.type} ${testEvent.version}.`);
  if (problem !== null) throw new UsageError(problem);
  const data: Record<string, unknown> = { ...structuredClone(samples.get(`${type}/${chosen}`)?.data) };
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

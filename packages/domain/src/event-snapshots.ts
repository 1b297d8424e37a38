// The content that the outbox stores for each event, from which every version of its payload is rendered. Ids are global
// identifiers, times are RFC 3339 in UTC. One build writes a snapshot and another, newer or older, reads it: only add fields.

import * as z from 'zod';
import type { EventRecordType } from './interfaces.ts';
import { referralStatuses } from './referral.ts';

const referral = z.object({
  id: z.string(),
  status: z.enum(referralStatuses),
  externalReference: z.string().nullable(),
});
const matter = z.object({ id: z.string(), reference: z.string(), openedAt: z.string() });
const lender = z.object({ id: z.string(), name: z.string() });
const teamMember = z.object({ id: z.string(), firstName: z.string(), lastName: z.string(), email: z.string() });
const webhookSubscription = z.object({ id: z.string(), name: z.string().nullable() });
const apiKey = z.object({
  id: z.string(),
  name: z.string().nullable(),
  abilities: z.array(z.string()),
  expiresAt: z.string().nullable(),
});
/**
 * Of an update: the paths of the values in the snapshot that it replaced. Not the values, which the system would otherwise keep longer.
 * Snapshots of earlier builds lack it.
 */
const changed = z.array(z.string()).exactOptional();
const createdBy = z.object({ apiKeyId: z.string().nullable(), portalActor: z.string().nullable() }).nullable();

/**
 * The snapshot of each event type. An update (`<noun>.updated`) has `changed`. Functions of the database write those of alerts and of
 * `api_key.expiring`: `0040-alerts.sql` and `0084-keys-by-keys.sql` in `packages/store/migrations`.
 */
const snapshots = {
  'api_key.created': z.object({ apiKey, createdBy }),
  'api_key.expiring': z.object({ apiKey }),
  'api_key.revoked': z.object({ apiKey, revokedAt: z.string() }),
  'api_key.rotated': z.object({ apiKey, replacedApiKey: apiKey.pick({ id: true, expiresAt: true }), createdBy }),
  'lender.updated': z.object({ lender, changed }),
  'referral.converted': z.object({ referral, matter, convertedAt: z.string() }),
  'referral.created': z.object({ referral }),
  'referral.declined': z.object({ referral, declinedAt: z.string(), reason: z.string().nullable() }),
  'team_member.added': z.object({ lender, teamMember }),
  'team_member.removed': z.object({ lender, teamMember }),
  'team_member.updated': z.object({ lender, teamMember, changed }),
  'webhook.test': z.object({ message: z.string() }),
  'webhook_delivery.failed': z.object({
    webhookSubscription,
    since: z.string(),
    failedCount: z.number(),
    webhookDeliveryIds: z.array(z.string()),
  }),
  'webhook_subscription.disrupted': z.object({
    webhookSubscription,
    failingSince: z.string(),
    consecutiveFailures: z.number(),
  }),
  'webhook_subscription.paused': z.object({ webhookSubscription, reason: z.string(), pausedAt: z.string() }),
  'webhook_subscription.recovered': z.object({ webhookSubscription, disruptedAt: z.string() }),
};

export type EventSnapshots = { [Type in keyof typeof snapshots]: z.infer<(typeof snapshots)[Type]> };

/** What this build appends. A stored snapshot can lack what an earlier build did not append. */
export type AppendedSnapshots = { [Type in keyof EventSnapshots]: Required<EventSnapshots[Type]> };

/** The JSON Schema of a snapshot or of a part of one, as far as code reads it. */
export interface SnapshotSchema {
  type?: unknown;
  enum?: unknown;
  properties?: Readonly<Record<string, SnapshotSchema>>;
  required?: readonly string[];
}

/** The JSON Schema of the snapshot of an event type. A snapshot can have more fields. */
export function snapshotSchema(type: string): SnapshotSchema {
  const schema = new Map<string, z.ZodType>(Object.entries(snapshots)).get(type);
  if (schema === undefined) throw new TypeError(`The event type ${JSON.stringify(type)} has no snapshot.`);
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' })));
}

/**
 * The type of the record that an event is about, by which its deliveries are found. Of an event with two records it is the one that
 * changed: a team member and not its lender, a referral and not its matter. Null: it reports no change of a record.
 */
export const recordTypeOf = {
  'api_key.created': null,
  'api_key.expiring': null,
  'api_key.revoked': null,
  'api_key.rotated': null,
  'lender.updated': 'Lender',
  'referral.converted': 'Referral',
  'referral.created': 'Referral',
  'referral.declined': 'Referral',
  'team_member.added': 'TeamMember',
  'team_member.removed': 'TeamMember',
  'team_member.updated': 'TeamMember',
  'webhook.test': null,
  'webhook_delivery.failed': null,
  'webhook_subscription.disrupted': null,
  'webhook_subscription.paused': null,
  'webhook_subscription.recovered': null,
} as const satisfies Record<keyof EventSnapshots, EventRecordType | null>;

/** The types of events that say how the deliveries of a subscription fare. */
export const alertTypes = [
  'webhook_delivery.failed',
  'webhook_subscription.disrupted',
  'webhook_subscription.paused',
  'webhook_subscription.recovered',
] as const satisfies readonly (keyof EventSnapshots)[];

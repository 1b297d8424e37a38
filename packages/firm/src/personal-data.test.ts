import { type SnapshotSchema, snapshotSchema } from '@deedwire/core';
import { expect, test } from 'vitest';
import { firm } from './index.ts';

/** The snapshot values that do not identify a person. Add each new field here or to `persons` of its event. */
const othersInSnapshots = new Set([
  'apiKey.abilities',
  'apiKey.expiresAt',
  'apiKey.id',
  'apiKey.name',
  // Names of values, not the values.
  'changed',
  'consecutiveFailures',
  'convertedAt',
  // The actor of a session is an identifier of the account, as in the audit log.
  'createdBy',
  'declinedAt',
  'disruptedAt',
  'failedCount',
  'failingSince',
  'lender.id',
  'lender.name',
  'matter.id',
  'matter.openedAt',
  'matter.reference',
  'message',
  'pausedAt',
  'referral.id',
  'referral.status',
  'replacedApiKey.expiresAt',
  'replacedApiKey.id',
  'revokedAt',
  'since',
  'teamMember.id',
  'webhookDeliveryIds',
  'webhookSubscription.id',
  'webhookSubscription.name',
]);

function pathsOf({ properties }: SnapshotSchema, prefix = ''): string[] {
  return Object.entries(properties ?? {}).flatMap(([name, schema]) =>
    schema.properties === undefined ? [`${prefix}${name}`] : pathsOf(schema, `${prefix}${name}.`),
  );
}

test.each(firm.events)('every value of the snapshot of $type identifies or does not', (event) => {
  // The reason of a pause is one of a list, that of a decline a text.
  const others = new Set([...othersInSnapshots, ...(event.type === 'webhook_subscription.paused' ? ['reason'] : [])]);
  const identifying = pathsOf(snapshotSchema(event)).filter((path) => !others.has(path));
  expect(identifying.toSorted()).toEqual(event.persons.toSorted());
});

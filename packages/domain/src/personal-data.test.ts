import { expect, test } from 'vitest';
import { recordTypeOf, snapshotSchema, type SnapshotSchema } from './event-snapshots.ts';
import { addressKey, personEvents, placeholderOf } from './personal-data.ts';
import { toRecordId } from './record-id.ts';
import { findTeamMemberProblems } from './team.ts';
import { isEmail } from './text.ts';

/** The snapshot values that do not identify a person. Add each new field here or to `personEvents`. */
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

test.each(Object.entries(recordTypeOf))(
  'every value of the snapshot of %s identifies or does not',
  (type, recordType) => {
    const all = pathsOf(snapshotSchema(type));
    const person = personEvents.get(type);
    // The reason of a pause is one of a list, that of a decline a text.
    const others = new Set([...othersInSnapshots, ...(type === 'webhook_subscription.paused' ? ['reason'] : [])]);
    expect(all.filter((path) => !others.has(path)).toSorted()).toEqual(person?.paths.toSorted() ?? []);
    expect(person?.recordType ?? recordType).toBe(recordType);
  },
);

test('placeholders are valid', () => {
  const id = toRecordId<'TeamMember'>('9223372036854775807');
  const [text, email] = [placeholderOf(id, 'text'), placeholderOf(id, 'address')];
  expect(email).toBe('erased-9223372036854775807@erased.invalid');
  expect(isEmail(email)).toBe(true);
  expect(findTeamMemberProblems({ firstName: text, lastName: text, email })).toEqual([]);
});

test('the key of the longest address takes no longer than that of a short one', () => {
  // In NFKC, one character becomes 18. A search that tries each of them as the beginning of a domain takes more than a minute.
  expect(addressKey(`${'ﷺ'.repeat(250)}@a.b`)).toMatch(/@a\.b$/);
}, 30_000);

test.each([
  ['ADA@LENDER.EXAMPLE', 'ada@lender.example'],
  ['Ádá@x.example'.normalize('NFD'), 'ÁDÁ@X.EXAMPLE'],
  ['ＡＤＡ@x.example', 'ada@x.example'],
  ['Ada@Bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@bücher.example'.normalize('NFD')],
  ['ΝΊΚΟΣ.ΠΑΠΠΆΣ@X.EXAMPLE', 'νίκος.παππάς@x.example'],
  ['ada@νίκος.example', 'ada@xn--kxawhkp.example'],
])('%s and %s are one address', (a, b) => expect(addressKey(a)).toBe(addressKey(b)));

test('an address with other letters is another one', () => {
  expect(addressKey('ada@x.example')).not.toBe(addressKey('adá@x.example'));
  for (const end of ['/x', '?x', '#x', ':80', '\\x'])
    expect(addressKey(`ada@bücher.example${end}`)).not.toBe(addressKey('ada@bücher.example'));
  expect(addressKey('ada@bücher%61.example')).not.toBe(addressKey('ada@büchera.example'));
});

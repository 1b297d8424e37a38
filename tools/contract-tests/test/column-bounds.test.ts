import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAccountName, isRequestHeaderName, isRequestHeaderValue, isSubscriptionName, originOf } from '@deedwire/core';
import { interfaceNames, testService } from '@deedwire/core/test-service';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { createSecretKeyRing } from '@deedwire/store';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { createWebhookSender } from '@deedwire/webhook-sender';
import { isWebhookSecret } from '@deedwire/webhook-signing';
import { afterAll, expect, test } from 'vitest';
import { columnBounds, type Length, letters, type Range } from './support/column-bounds.ts';
import { contracts } from './support/interface-contracts.ts';
import { workspaceRoot } from './support/workspace-copy.ts';

// The columns that a login of an app could fill, and the bound of each: in the database, and in the code of the app. Columns that
// only the worker writes are left out: a check would cost each delivery.

interface Limits {
  idempotencyKeyCharacters: number;
  webhookAcknowledgementMaximumMs: { value: number };
  webhookAcknowledgementMs: number;
  webhookListeners: { value: number };
  webhookReplayedPerSecond: { value: number };
  webhookRequestHeaderCharacters: { value: number };
  webhookSubscriptionNameCharacters: { value: number };
  webhookSubscriptions: number;
}

const limits = contracts.customer.manifest('2026-11-01')['limits'] as Limits;

const bytes = (length: number): Buffer => Buffer.alloc(length);

const sender = createWebhookSender({ policy: 'public', headerPrefix: 'X-Service', userAgent: 'test' });

const lengths: Readonly<Record<string, Length>> = {
  'account.external_id': { max: 200 },
  'account.name': { max: 200, accepts: isAccountName },
  'api_client.client_id': { max: 100 },
  'api_client.schema_version': { max: 100 },
  'api_key.created_by_actor': { max: 100 },
  'api_key.created_by_key': { max: 100 },
  'api_key.key_id': { max: 100 },
  'api_key.last_used_version': { max: 100 },
  'api_key.replaced_by': { max: 100 },
  'api_key.name': { max: 100, accepts: isSubscriptionName },
  'audit_entry.action': { max: 100, value: (length) => `a.${letters(length - 2)}` },
  'audit_entry.actor': { max: 1_000 },
  'audit_entry.address': { max: 1_000 },
  'audit_entry.details': { max: 40_000, value: (length) => `{"a": "${letters(length - 9)}"}` },
  'audit_entry.request_id': { max: 1_000 },
  'audit_entry.subject': { max: 1_000 },
  'idempotency_key.key': { max: 64, accepts: ({ length }) => length <= limits.idempotencyKeyCharacters },
  'idempotency_key.mutation': { max: 100 },
  'idempotency_key.secret_ciphertext': { max: 155, value: bytes },
  'portal_session.actor': { max: 100, accepts: isSubscriptionName },
  'portal_session.key_id': { max: 100 },
  'portal_session.return_url': { max: 2_048 },
  'webhook_event.event_type': { max: 100 },
  'webhook_event.request_id': { max: 200 },
  'webhook_event.snapshot': { max: 500_000, value: (length) => JSON.stringify(letters(length - 2)) },
  // 100 types of 100 characters.
  'webhook_replay.event_types': { max: 10_000, value: (length) => [letters(length)] },
  'webhook_subscription.callback_url': {
    max: 2_048,
    value: (length) => `https://a.example/${letters(length - 18)}`,
    accepts: (text) => sender.check(text).ok,
  },
  'webhook_subscription.name': { max: limits.webhookSubscriptionNameCharacters.value, accepts: isSubscriptionName },
  'webhook_subscription.next_secret_ciphertext': { max: 155, value: bytes },
  'webhook_subscription.request_header_ciphertext': { max: 4_157, value: bytes },
  'webhook_subscription.request_header_name': {
    max: 100,
    value: (length) => `X-${letters(length - 2)}`,
    accepts: (name) => isRequestHeaderName(testService, name),
  },
  'webhook_subscription.request_header_origin': { max: 300 },
  'webhook_subscription.secret_ciphertext': { max: 155, value: bytes },
  'webhook_subscription_event_type.event_type': { max: 100 },
  'webhook_subscription_event_type.event_version': { max: 100 },
};

const ranges: Readonly<Record<string, Range>> = {
  'account.id': { accepted: ['1'], refused: ['0', '-1'] },
  'api_client.cost_maximum': { accepted: [1_000, 1_000_000_000], refused: [999, 1_000_000_001] },
  'api_client.cost_restore_rate': { accepted: [1, 1_000_000_000], refused: [0, 1_000_000_001] },
  'api_key.abilities': {
    accepted: [['READ'], ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE', 'MANAGE_KEYS']],
    refused: [[], ['read'], ['WRITE'], ['READ', 'CONFIGURE'], ['READ', 'READ'], [['READ', 'OPERATE']]],
  },
  'api_key.addresses': {
    accepted: [['192.0.2.0/24'], Array(20).fill('2001:db8::7/128')],
    refused: [[], Array(21).fill('192.0.2.1/32'), [['192.0.2.1/32']]],
  },
  // The type is the bound.
  'api_key.last_used_from': { accepted: ['192.0.2.1', '2001:db8::7'], refused: [] },
  'api_key.key_hash': { accepted: [bytes(32)], refused: [bytes(31), bytes(33)] },
  'audit_entry.actor_type': { accepted: ['CLIENT'], refused: ['client'] },
  'portal_session.abilities': {
    accepted: [['READ'], ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE']],
    refused: [[], ['read'], Array(6).fill('READ')],
  },
  'portal_session.invited_abilities': {
    accepted: [['READ'], ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE', 'WRITE', 'MANAGE_KEYS']],
    refused: [[], ['read'], ['WRITE'], ['READ', 'CONFIGURE'], ['READ', 'READ'], [['READ', 'OPERATE']]],
  },
  'portal_session.link_hash': { accepted: [bytes(32)], refused: [bytes(31), bytes(33)] },
  'portal_session.subscription_id': { accepted: ['1'], refused: ['0', '-1'] },
  'portal_session.token_hash': { accepted: [bytes(32)], refused: [bytes(31), bytes(33)] },
  'webhook_event_queue.event_id': { accepted: ['1'], refused: ['0', '-1'] },
  'webhook_event_queue.subscription_id': { accepted: ['1'], refused: ['0', '-1'] },
  'webhook_replay.event_types': { accepted: [Array(100).fill(letters(100))], refused: [Array(101).fill('a')] },
  'webhook_replay.from_id': { accepted: ['0', '9223372036854775807'], refused: ['-1'] },
  'webhook_replay.from_sequence': { accepted: ['1'], refused: ['0'] },
  'webhook_replay.last_id': { accepted: ['-1', '9223372036854775806'], refused: ['-2', '9223372036854775807'] },
  'webhook_replay.per_second': { accepted: [1, limits.webhookReplayedPerSecond.value], refused: [0, 501] },
  'webhook_replay.until_id': { accepted: ['1', '9223372036854775807'], refused: ['0'] },
  'webhook_replay.until_sequence': { accepted: ['1'], refused: ['0'] },
  'webhook_subscription.id': { accepted: ['1'], refused: ['0', '-1'] },
  'webhook_subscription.kind': { accepted: ['PUSH'], refused: ['push'] },
  'webhook_subscription.paused_reason': { accepted: ['OWNER'], refused: ['owner'] },
  'webhook_subscription.timeout_lowered_at': {
    accepted: ['1970-01-01Z', '9999-12-31Z'],
    refused: ['-infinity', 'infinity'],
  },
  'webhook_subscription.timeout_seconds': {
    accepted: [limits.webhookAcknowledgementMs / 1_000, limits.webhookAcknowledgementMaximumMs.value / 1_000],
    refused: [4, 16],
  },
};

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const { writtenColumns, sharedColumns, accepts, acceptedOf } = columnBounds(superuser, interfaceNames);
afterAll(async () => {
  await sender.close();
});

test('every column that an app writes and another one reads has a fixed size or a bound', async () => {
  const all = await sharedColumns('true');
  expect([...Object.keys(lengths), ...Object.keys(ranges)].filter((name) => !all.includes(name))).toEqual([]);
  const unsized = await sharedColumns('a.attlen = -1');
  expect(unsized.filter((name) => !(name in lengths) && !(name in ranges))).toEqual([]);
});

test.each(Object.entries(lengths))('%s: database and code have the same bound', async (name, length) => {
  const { max, value = letters, accepts: isAccepted } = length;
  expect(await accepts(name, value(max))).toBe(true);
  expect(await accepts(name, value(max + 1))).toBe(false);
  if (isAccepted === undefined) return;
  expect(isAccepted(String(value(max)))).toBe(true);
  expect(isAccepted(String(value(max + 1)))).toBe(false);
});

test.each(Object.entries(ranges))('%s has a range', async (name, { accepted, refused }) => {
  expect(await acceptedOf(name, [...accepted, ...refused])).toEqual(accepted);
});

test('every time is one that an API can show', async () => {
  const times = await sharedColumns(`a.atttypid = 'timestamptz'::regtype`);
  expect(times.length).toBeGreaterThan(10);
  for (const name of times) {
    const accepted = await acceptedOf(name, [
      '-infinity',
      '1969-12-31T23:59:59Z',
      '1970-01-01T00:00:00Z',
      '9999-12-31T00:00:00Z',
      '10000-01-01T00:00:00Z',
      'infinity',
    ]);
    expect({ name, accepted }).toEqual({ name, accepted: ['1970-01-01T00:00:00Z', '9999-12-31T00:00:00Z'] });
  }
});

const ofInterfaces = async (type: string): Promise<string[]> =>
  writtenColumns(`writer <> 'operator' and a.atttypid = any ('{${type}}'::regtype[])`);

/** Times that only the app of the same interface reads, which has written them, or that decide when its own rows are deleted. */
const unbounded = ['idempotency_key.claimed_until', 'idempotency_key.created_at', 'webhook_handshake_count.minute'];

test('every number with a fraction, and every other time, that a login of an interface can write is finite', async () => {
  expect(await ofInterfaces('float4,float8,numeric')).toEqual(['cost_bucket.points']);
  expect(
    await acceptedOf('cost_bucket.points', ['NaN', '-infinity', '-1e10', '-1e9', '1e9', '1e10', 'infinity']),
  ).toEqual(['-1e9', '1e9']);
  const infinite: string[] = [];
  for (const name of await ofInterfaces('timestamptz,timestamp,date'))
    if ((await acceptedOf(name, ['-infinity', 'infinity'])).length > 0) infinite.push(name);
  expect(infinite).toEqual(unbounded);
});

test('what the apps write without a bound in code is shorter', () => {
  const interfaces = Object.values<{ versions: readonly { version: string }[] }>(testService.interfaces);
  const versions = [...interfaces, ...testService.events].flatMap((each) => each.versions);
  const names = [...testService.events.map(({ type }) => type), ...versions.map(({ version }) => version)];
  expect(names.filter(({ length }) => length > 100)).toEqual([]);
  // The triggers count so many event types of a subscription, and so many subscriptions and listeners of an account.
  expect(testService.events.length).toBeLessThanOrEqual(100);
  expect([limits.webhookSubscriptions, limits.webhookListeners.value]).toEqual([20, 10]);
});

test('the longest secret fits when it is encrypted with a key whose id is longest', () => {
  const secretOf = (size: number) => `whsec_${bytes(size).toString('base64')}`;
  expect([isWebhookSecret(secretOf(64)), isWebhookSecret(secretOf(65))]).toEqual([true, false]);
  const ring = createSecretKeyRing(new Map([[letters(32), bytes(32)]]));
  expect(ring.encrypt(secretOf(64), 'owner')).toHaveLength(155);
});

test('so does the longest request header, and the origin of the longest host name is within its bound', () => {
  const { value: max } = limits.webhookRequestHeaderCharacters;
  expect([isRequestHeaderValue(letters(max)), isRequestHeaderValue(letters(max + 1))]).toEqual([true, false]);
  const ring = createSecretKeyRing(new Map([[letters(32), bytes(32)]]));
  expect(ring.encrypt(letters(max), 'owner')).toHaveLength(4_157);
  const host = `${`${letters(62)}.`.repeat(3)}${letters(63)}`;
  const url = `https://${host}:65535/`;
  expect(sender.check(url).ok).toBe(true);
  expect(originOf(url)?.length).toBeLessThan(300);
});

test('the bounds hold for all rows, including those of earlier releases', async () => {
  expect(
    await superuser.run(`select conname from pg_constraint where conname like '%\\_bounds' and not convalidated`),
  ).toEqual([]);
});

test('docs/threats/claims.md says of every id that an app may write what keeps it from naming a record of others', async () => {
  const page = readFileSync(join(workspaceRoot, 'docs/threats/claims.md'), 'utf8');
  const ids = await writtenColumns(`a.attname ~ '(^|_)id$' and a.atttypid = 'bigint'::regtype`);
  expect(ids.length).toBeGreaterThan(10);
  const ofPlatform = ids.filter((name) => !name.startsWith('customer_order.'));
  expect(ofPlatform.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

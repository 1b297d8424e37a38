import { parseApiKey } from '@deedwire/auth';
import { abilities, type Ability, usualAbilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Caller,
  createApiKey,
  type CreateApiKeyInput,
  findApiKey,
  issueCredential,
  listApiKeys,
  revokeApiKey,
  revokeCredential,
  rotateApiKey,
  rotateCredential,
  setKeySelfService,
} from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

interface Acting {
  keyId: string;
  caller: Caller;
}

/** A client of the customer whose key has these limits. */
async function makeActing(
  limits: { abilities?: readonly Ability[]; addresses?: string[]; expiresAt?: Date } = {},
  clientId: string | null = null,
): Promise<Acting> {
  const { gid: accountId, interfaceName } = world.customer;
  const issued = await issueCredential(world.operator, { accountId, interfaceName, clientId, abilities, ...limits });
  return actingWith(issued.apiKey, issued.clientId, limits.abilities);
}

function actingWith(apiKey: string, clientId: string, chosen: readonly Ability[] = abilities): Acting {
  const keyId = parseApiKey(testService, apiKey)?.keyId ?? '';
  const { accountId, interfaceName } = world.customer;
  return { keyId, caller: { accountId, interfaceName, clientId, keyId, abilities: chosen, requestId: 'request-1' } };
}

const create = ({ caller }: Acting, input: Partial<CreateApiKeyInput> = {}) =>
  createApiKey(world.customerApi, caller, { name: 'CRM', abilities: ['READ'], ...input });
const rotate = ({ caller }: Acting, id: string, overlapSeconds = 0) =>
  rotateApiKey(world.customerApi, caller, { id, overlapSeconds });
const revoke = ({ caller }: Acting, id: string) => revokeApiKey(world.customerApi, caller, { id });
const codesOf = ({ userErrors }: { userErrors: readonly { code: string }[] }) => userErrors.map(({ code }) => code);
const idOf = ({ apiKey }: { apiKey: { id: string } | null }) => apiKey?.id ?? '';
const eventsOf = async () =>
  (await world.sql(`select event_type, snapshot from webhook_event order by id`)).map((row) => [
    row['event_type'],
    row['snapshot'],
  ]);

let acting: Acting;
beforeEach(async () => {
  acting = await makeActing();
  await world.sql('delete from webhook_event_queue');
  await world.sql('delete from webhook_event');
});

test('notifies the worker when a key is created, replaced and revoked, and not when nothing changes', async () => {
  const created = await create(acting);
  expect(world.customerApi.notified).toBe(1);
  const replaced = await rotate(acting, idOf(created));
  expect(world.customerApi.notified).toBe(2);
  await revoke(acting, idOf(replaced));
  expect(world.customerApi.notified).toBe(3);
  await revoke(acting, idOf(replaced));
  expect(world.customerApi.notified).toBe(3);
});

test('creates a key, which is listed with its creator, reported and in the audit log', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000);
  const created = await create(acting, {
    abilities: ['WRITE', 'READ'],
    addresses: ['192.0.2.7', '2001:db8::/32'],
    expiresAt,
  });
  const key = {
    id: parseApiKey(testService, created.apiKeySecret ?? '')?.keyId,
    name: 'CRM',
    abilities: ['READ', 'WRITE'],
    addresses: ['192.0.2.7/32', '2001:db8::/32'],
    createdBy: { apiKeyId: acting.keyId, portalActor: null },
    expiresAt,
    endedAt: null,
    lastUsedAt: null,
  };
  expect(created).toMatchObject({ apiKey: key, userErrors: [] });
  const stored = await findApiKey(world.customerApi, idOf(created));
  expect(stored?.addresses?.includes('192.0.2.7')).toBe(true);
  expect(stored?.addresses?.includes('192.0.2.8')).toBe(false);
  const listed = await listApiKeys(world.customerApi, acting.caller);
  expect(listed.map(({ id, createdBy }) => [id, createdBy?.apiKeyId])).toEqual([
    [idOf(created), acting.keyId],
    [acting.keyId, undefined],
  ]);
  const apiKey = { id: idOf(created), name: 'CRM', abilities: ['READ', 'WRITE'], expiresAt: expiresAt.toISOString() };
  expect(await eventsOf()).toEqual([['api_key.created', { apiKey, createdBy: key.createdBy }]]);
  const [entry] = await world.sql('select * from audit_entry where subject = $1', [idOf(created)]);
  expect(entry).toMatchObject({
    action: 'credential.issue',
    actor_type: 'CLIENT',
    actor: acting.caller.clientId,
    request_id: 'request-1',
    details: { keyId: acting.keyId, new: { key_hash: 'hidden', created_by_key: acting.keyId } },
  });
  expect(JSON.stringify(entry)).not.toContain(created.apiKeySecret?.split('_')[3]);
});

describe('a key cannot be created', () => {
  const far = new Date(Date.now() + 10 * 86_400_000);
  const near = new Date(Date.now() + 86_400_000);

  test.each<[string, Parameters<typeof makeActing>[0], Partial<CreateApiKeyInput>, string[]]>([
    [
      'an ability that the key lacks',
      { abilities: ['READ', 'MANAGE_KEYS'] },
      { abilities: ['READ', 'WRITE'] },
      ['ABILITIES_INVALID'],
    ],
    ['any address', { addresses: ['192.0.2.0/24'] }, {}, ['ADDRESSES_INVALID']],
    ['a wider network', { addresses: ['192.0.2.0/24'] }, { addresses: ['192.0.0.0/16'] }, ['ADDRESSES_INVALID']],
    [
      'one address outside',
      { addresses: ['192.0.2.0/24'] },
      { addresses: ['192.0.2.1', '192.0.3.1'] },
      ['ADDRESSES_INVALID'],
    ],
    ['another family', { addresses: ['0.0.0.0/0'] }, { addresses: ['::/0'] }, ['ADDRESSES_INVALID']],
    ['no end', { expiresAt: near }, {}, ['EXPIRY_INVALID']],
    ['a later end', { expiresAt: near }, { expiresAt: far }, ['EXPIRY_INVALID']],
    ['an end in the past', {}, { expiresAt: new Date(0) }, ['EXPIRY_INVALID']],
    ['no READ', {}, { abilities: ['WRITE'] }, ['ABILITIES_INVALID']],
    ['CONFIGURE alone', {}, { abilities: ['READ', 'CONFIGURE'] }, ['ABILITIES_INVALID']],
    ['no address at all', {}, { addresses: [] }, ['ADDRESSES_INVALID']],
    ['21 addresses', {}, { addresses: Array<string>(21).fill('192.0.2.1') }, ['ADDRESSES_INVALID']],
    ['IPv4 in IPv6 form', {}, { addresses: ['::ffff:192.0.2.0/120'] }, ['ADDRESSES_INVALID']],
    ['IPv4 and IPv6 in one', {}, { addresses: ['::/0'] }, ['ADDRESSES_INVALID']],
    ['an end that no database stores', {}, { expiresAt: new Date('9999-12-31T23:59:59Z') }, ['EXPIRY_INVALID']],
    ['a name as an address', {}, { addresses: ['crm.example'] }, ['ADDRESSES_INVALID']],
    ['host bits', {}, { addresses: ['192.0.2.1/24'] }, ['ADDRESSES_INVALID']],
    ['a blank name', {}, { name: ' ' }, ['NAME_INVALID']],
    [
      'several faults',
      {},
      { name: '', abilities: [], addresses: ['x'] },
      ['NAME_INVALID', 'ABILITIES_INVALID', 'ADDRESSES_INVALID'],
    ],
  ])('with %s', async (_, limits, input, codes) => {
    const limited = await makeActing(limits);
    const result = await create(limited, input);
    expect(codesOf(result)).toEqual(codes);
    expect(result).toMatchObject({ apiKey: null, apiKeySecret: null });
    expect(await listApiKeys(world.customerApi, limited.caller)).toHaveLength(1);
  });

  test('with a key that has ended or lacks MANAGE_KEYS, whatever the app says', async () => {
    const without = await makeActing({ abilities: usualAbilities });
    expect(codesOf(await create({ ...without, caller: { ...without.caller, abilities } }))).toEqual([
      'ABILITIES_INVALID',
    ]);
    await world.sql('update api_key set revoked_at = now() where key_id = $1', [acting.keyId]);
    expect(codesOf(await create(acting))).toEqual(['ABILITIES_INVALID']);
    expect(codesOf(await revoke(acting, acting.keyId))).toEqual(['NOT_FOUND']);
  });
});

test('an addressed key can give addresses within its own, until its own end', async () => {
  const expiresAt = new Date(Date.now() + 86_400_000);
  const limited = await makeActing({ addresses: ['192.0.2.0/24', '2001:db8::/32'], expiresAt });
  const created = await create(limited, { addresses: ['192.0.2.128/25', '2001:db8:1::/48'], expiresAt });
  expect(codesOf(created)).toEqual([]);
});

test('rotates a key, which keeps its limits, and rejects the old one after the overlap', async () => {
  const expiresAt = new Date(Date.now() + 20 * 86_400_000);
  const old = await create(acting, { abilities: ['READ', 'OPERATE'], addresses: ['192.0.2.0/24'], expiresAt });
  const startMs = Date.now();
  const rotated = await rotate(acting, idOf(old), 3_600);
  expect(rotated).toMatchObject({
    apiKey: { name: 'CRM', abilities: ['READ', 'OPERATE'], addresses: ['192.0.2.0/24'], expiresAt, endedAt: null },
    userErrors: [],
  });
  expect(parseApiKey(testService, rotated.apiKeySecret ?? '')?.keyId).toBe(idOf(rotated));
  const before = await findApiKey(world.customerApi, idOf(old));
  expect(Number(before?.expiresAt)).toBeGreaterThan(startMs + 3_599_000);
  expect(Number(before?.expiresAt)).toBeLessThanOrEqual(Date.now() + 3_600_000);
  const replacedApiKey = { id: idOf(old), expiresAt: before?.expiresAt?.toISOString() };
  expect((await eventsOf()).at(-1)).toMatchObject([
    'api_key.rotated',
    { apiKey: { id: idOf(rotated) }, replacedApiKey },
  ]);
  expect(codesOf(await rotate(acting, idOf(rotated), 30 * 86_400 + 1))).toEqual(['OVERLAP_INVALID']);
  expect(codesOf(await rotate(acting, idOf(rotated), -1))).toEqual(['OVERLAP_INVALID']);
  await rotate(acting, idOf(rotated), 0);
  expect(codesOf(await rotate(acting, idOf(rotated)))).toEqual(['KEY_ENDED']);
});

test('a key can rotate itself', async () => {
  const rotated = await rotate(acting, acting.keyId);
  const next = actingWith(rotated.apiKeySecret ?? '', acting.caller.clientId);
  expect(codesOf(await create(next))).toEqual([]);
  expect(codesOf(await create(acting))).toEqual(['ABILITIES_INVALID']);
});

test('a key with less cannot rotate a key with more, but can revoke it', async () => {
  const other = await makeActing({ abilities: ['READ', 'MANAGE_KEYS'] }, acting.caller.clientId);
  expect(codesOf(await rotate(other, acting.keyId))).toEqual(['ABILITIES_INVALID']);
  expect(codesOf(await revoke(other, acting.keyId))).toEqual([]);
  expect(await findApiKey(world.customerApi, acting.keyId)).toMatchObject({ revokedAt: expect.any(Date) });
});

test('revokes a key once, with one event, including for requests at once', async () => {
  const created = await create(acting);
  const results = await Promise.all([1, 2, 3].map(() => revoke(acting, idOf(created))));
  for (const result of results) expect(result).toMatchObject({ apiKey: { endedAt: expect.any(Date) }, userErrors: [] });
  const events = await eventsOf();
  expect(events.map(([type]) => type)).toEqual(['api_key.created', 'api_key.revoked']);
  const { revokedAt } = (await findApiKey(world.customerApi, idOf(created))) ?? {};
  expect(events[1]?.[1]).toMatchObject({ apiKey: { id: idOf(created) }, revokedAt: revokedAt?.toISOString() });
});

test('a key that has expired is not revoked by its owner, and nothing is reported', async () => {
  const old = await create(acting);
  await rotate(acting, idOf(old));
  expect(await revoke(acting, idOf(old))).toMatchObject({ apiKey: { endedAt: expect.any(Date) }, userErrors: [] });
  expect((await eventsOf()).map(([type]) => type)).toEqual(['api_key.created', 'api_key.rotated']);
  // An operator revokes it, and the event has the time of the revocation.
  const { revokedAt } = await revokeCredential(world.operator, { keyId: idOf(old) });
  expect((await eventsOf()).at(-1)).toMatchObject(['api_key.revoked', { revokedAt: revokedAt.toISOString() }]);
});

test('a key with a nearer end can revoke one that has leaked', async () => {
  const near = new Date(Date.now() + 86_400_000);
  const other = await makeActing({ expiresAt: near }, acting.caller.clientId);
  const successor = await rotate(acting, acting.keyId);
  expect(codesOf(await revoke(other, idOf(successor)))).toEqual([]);
  expect(codesOf(await revoke(other, other.keyId))).toEqual(['LAST_KEY']);
});

test('the last key with MANAGE_KEYS can be rotated and not revoked, even during the overlap', async () => {
  await makeActing({ abilities: usualAbilities }, acting.caller.clientId);
  expect(codesOf(await revoke(acting, acting.keyId))).toEqual(['LAST_KEY']);
  const rotated = await rotate(acting, acting.keyId, 3_600);
  expect(codesOf(await revoke(acting, idOf(rotated)))).toEqual(['LAST_KEY']);
  expect(codesOf(await revoke(acting, acting.keyId))).toEqual([]);
});

describe('keys of others', () => {
  test('of another client or account look as if they did not exist', async () => {
    const other = await makeActing();
    const supplier = await issueCredential(world.operator, {
      accountId: world.supplier.gid,
      interfaceName: 'supplier',
      clientId: null,
    });
    for (const id of [other.keyId, parseApiKey(testService, supplier.apiKey)?.keyId ?? '', 'nobody', '']) {
      expect(codesOf(await rotate(acting, id))).toEqual(['NOT_FOUND']);
      expect(codesOf(await revoke(acting, id))).toEqual(['NOT_FOUND']);
    }
    expect((await listApiKeys(world.customerApi, acting.caller)).map(({ id }) => id)).toEqual([acting.keyId]);
  });

  test('cannot act on another interface', async () => {
    const { gid: accountId } = world.supplier;
    const issued = await issueCredential(world.operator, {
      accountId,
      interfaceName: 'supplier',
      clientId: null,
      abilities,
    });
    const supplier = actingWith(issued.apiKey, issued.clientId);
    // As the login of the customer interface would with a key that it has seen.
    expect(codesOf(await create(supplier))).toEqual(['ABILITIES_INVALID']);
  });
});

test('limits a client to 5 live keys, including for requests at once', async () => {
  const results = await Promise.all(Array.from({ length: 8 }, () => create(acting)));
  expect(results.flatMap(codesOf)).toEqual(Array(4).fill('LIMIT_REACHED'));
  expect(codesOf(await rotate(acting, acting.keyId, 60))).toEqual(['LIMIT_REACHED']);
  expect(codesOf(await rotate(acting, acting.keyId, 0))).toEqual([]);
});

test('limits a client to 20 creations and rotations a day, and no operator', async () => {
  let current = acting;
  for (let count = 0; count < 20; count += 1) {
    const { apiKeySecret } = await rotate(current, current.keyId);
    current = actingWith(apiKeySecret ?? '', acting.caller.clientId);
  }
  expect(codesOf(await rotate(current, current.keyId))).toEqual(['LIMIT_REACHED']);
  expect(codesOf(await create(current))).toEqual(['LIMIT_REACHED']);
  const { apiKey } = await rotateCredential(world.operator, {
    keyId: current.keyId,
    overlapSeconds: 0,
    expiresAt: null,
  });
  await world.sql(`update api_key set created_at = created_at - interval '1 day' where created_by_key is not null`);
  expect(codesOf(await create(actingWith(apiKey, acting.caller.clientId)))).toEqual([]);
});

describe('a repeated idempotency key', () => {
  test('returns the same key without its secret', async () => {
    const first = await create(acting, { idempotencyKey: 'a' });
    const again = await create(acting, { idempotencyKey: 'a' });
    expect(again).toMatchObject({ apiKey: { id: idOf(first) }, apiKeySecret: null, isRepeated: true });
    expect(codesOf(again)).toEqual(['SECRET_NOT_REPEATED']);
    expect(codesOf(await create(acting, { idempotencyKey: 'a', name: 'Other' }))).toEqual(['IDEMPOTENCY_KEY_REUSED']);
    expect(await listApiKeys(world.customerApi, acting.caller)).toHaveLength(2);
    expect(JSON.stringify(await world.sql('select to_jsonb(k) as key from idempotency_key k'))).not.toContain(
      first.apiKeySecret?.split('_')[3],
    );
  });

  test('of another client of the account is another one', async () => {
    const other = await makeActing();
    await create(acting, { idempotencyKey: 'a' });
    expect(await create(other, { idempotencyKey: 'a' })).toMatchObject({
      apiKey: null,
      userErrors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }],
    });
  });

  test('does not rotate twice', async () => {
    const input = { id: acting.keyId, overlapSeconds: 60, idempotencyKey: 'r' };
    const first = await rotateApiKey(world.customerApi, acting.caller, input);
    const again = await rotateApiKey(world.customerApi, acting.caller, input);
    expect([idOf(again), codesOf(again)]).toEqual([idOf(first), ['SECRET_NOT_REPEATED']]);
    expect(await listApiKeys(world.customerApi, acting.caller)).toHaveLength(2);
  });

  test('is reported with everything else if it is invalid', async () => {
    expect(codesOf(await create(acting, { idempotencyKey: '', name: '' }))).toEqual([
      'NAME_INVALID',
      'IDEMPOTENCY_KEY_INVALID',
    ]);
  });
});

test('while self-service is off, only an operator manages keys', async () => {
  await setKeySelfService(world.operator, { isOn: false });
  for (const result of [await create(acting), await rotate(acting, acting.keyId), await revoke(acting, acting.keyId)])
    expect(codesOf(result)).toEqual(['KEY_SELF_SERVICE_OFF']);
  expect(await listApiKeys(world.customerApi, acting.caller)).toHaveLength(1);
  const { apiKey } = await rotateCredential(world.operator, {
    keyId: acting.keyId,
    overlapSeconds: 60,
    expiresAt: null,
  });
  await setKeySelfService(world.operator, { isOn: true });
  expect(codesOf(await create(actingWith(apiKey, acting.caller.clientId)))).toEqual([]);
  const [entry] = await world.sql(
    `select actor, details from audit_entry where action = 'database.key-self-service' order by number`,
  );
  expect(entry).toMatchObject({ details: { isOn: false } });
});

test('lists the 20 keys that ended last after those that are accepted', async () => {
  await world.sql(
    `insert into api_key (key_id, api_client_id, interface, key_hash, created_at, revoked_at)
     select 'Ended' || n, k.api_client_id, k.interface, sha256(n::text::bytea), now() - interval '30 days', now() - n * interval '1 hour'
     from api_key k, generate_series(1, 25) n where k.key_id = $1`,
    [acting.keyId],
  );
  const listed = await listApiKeys(world.customerApi, acting.caller);
  expect(listed.map(({ id }) => id)).toEqual([
    acting.keyId,
    ...Array.from({ length: 20 }, (_, index) => `Ended${index + 1}`),
  ]);
});

test('reports a key 30 days, 7 days and a day before its end, only after its creation', async () => {
  const report = async (daysLeft: number) => {
    await world.sql(
      `update api_key set expires_at = now() + $1 * interval '1 day' + interval '1 minute' where key_id = $2`,
      [daysLeft, acting.keyId],
    );
    return (await world.sql('select report_expiring_api_keys(10) as shard')).length;
  };
  await world.sql(`update api_key set created_at = now() - interval '40 days' where key_id = $1`, [acting.keyId]);
  expect(await report(30)).toBe(0);
  expect([await report(29), await report(28)]).toEqual([1, 0]);
  expect((await eventsOf()).at(-1)).toMatchObject(['api_key.expiring', { apiKey: { id: acting.keyId, name: null } }]);
  await world.sql(`update api_key set expiry_reported_at = now() - interval '20 days' where key_id = $1`, [
    acting.keyId,
  ]);
  expect([await report(6), await report(5)]).toEqual([1, 0]);
  await world.sql(`update api_key set expiry_reported_at = now() - interval '5 days' where key_id = $1`, [
    acting.keyId,
  ]);
  expect([await report(0.5), await report(0.4)]).toEqual([1, 0]);
  // Created 3 days ago: only the notice of a day lies within its life.
  const limited = await makeActing();
  await world.sql(
    `update api_key set created_at = now() - interval '1 day', expires_at = now() + interval '2 days' where key_id = $1`,
    [limited.keyId],
  );
  expect(await world.sql('select report_expiring_api_keys(10) as shard')).toHaveLength(0);
  await world.sql('update api_key set revoked_at = now()');
  expect(await world.sql('select report_expiring_api_keys(10) as shard')).toHaveLength(0);
});

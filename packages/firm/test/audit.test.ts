import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  expireCredential,
  issueCredential,
  listAuditEntries,
  pinClient,
  readAuditEntries,
  revokeCredential,
  setClientLimit,
  type StoredAuditEntry,
  rotateCredential,
  updateWebhookSubscription,
} from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { firm } from '@deedwire/firm';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { addTeamMember, removeTeamMember, updateLender, updateTeamMember } from '../src/lender/index.ts';
import { convertReferral, createReferral, createReferralForPartner, declineReferral } from '../src/partner/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

beforeEach(() => world.sql('truncate audit_entry'));

const list = () => listAuditEntries(world.operator, { limit: 100 });
/** The entries, oldest first: `<actor> <action> <account>`. */
const changes = async () =>
  (await list()).map(({ actor, action, accountId }) => `${actor} ${action} ${accountId}`).toReversed();
const ofLender = (action: string) => `ada ${action} ${world.lender.gid}`;
const ofPartner = (action: string) => `ada ${action} ${world.partner.gid}`;
const keyIdOf = ({ apiKey }: { apiKey: string }) => parseApiKey(firm, apiKey)?.keyId ?? '';

test('records every change by an operator', async () => {
  const { operator, lender, partner } = world;
  await world.reset();
  await updateLender(operator, { lenderId: world.lender.gid, name: 'Renamed' });
  const details = { firstName: 'Ada', lastName: 'Fairbank', email: 'ada@lender.test' };
  const { id: teamMemberId } = await addTeamMember(operator, { lenderId: world.lender.gid, ...details });
  await updateTeamMember(operator, { teamMemberId, lastName: 'Fairbanks' });
  await removeTeamMember(operator, { teamMemberId });
  const referral = {
    partnerId: world.partner.gid,
    clientName: 'C',
    clientEmail: null,
    externalReference: null,
    note: null,
  };
  await convertReferral(operator, { referralId: (await createReferralForPartner(operator, referral)).id });
  const { id: referralId } = await createReferralForPartner(operator, referral);
  await declineReferral(operator, { referralId, reason: null });
  const account = { interfaceName: 'lender', accountId: world.lender.gid, clientId: null } as const;
  const issued = await issueCredential(operator, account);
  await pinClient(operator, { clientId: issued.clientId, schemaVersion: '2027-02-01' });
  await setClientLimit(operator, { clientId: issued.clientId, maximum: 5_000, restoreRate: 500 });
  const rotated = await rotateCredential(operator, { keyId: keyIdOf(issued), overlapSeconds: 60, expiresAt: null });
  await expireCredential(operator, { keyId: keyIdOf(rotated), expiresAt: null });
  await revokeCredential(operator, { keyId: keyIdOf(issued) });

  expect(lender.gid).not.toBe(world.lender.gid);
  expect(partner.gid).not.toBe(world.partner.gid);
  expect(await changes()).toEqual([
    'ada organization.create null',
    ofLender('lender.create'),
    `ada lender.create ${world.otherLender.gid}`,
    ofPartner('partner.create'),
    `ada partner.create ${world.otherPartner.gid}`,
    ...['lender.update', 'member.add', 'member.update', 'member.remove'].map(ofLender),
    ...['referral.create', 'referral.convert', 'referral.create', 'referral.decline'].map(ofPartner),
    ...[
      'client.create',
      'credential.issue',
      'client.pin',
      'client.set-limit',
      'credential.expire',
      'credential.issue',
      'credential.expire',
      'credential.revoke',
    ].map(ofLender),
  ]);
});

test('records every change by a client, with its address and request id', async () => {
  const caller = { ...world.partner, clientId: 'portal', address: '203.0.113.7', requestId: 'request-1' };
  await createReferral(world.partnerApi, caller, { clientName: 'Client' });
  const { webhookSubscription } = await createWebhookSubscription(world.partnerApi, caller, {
    callbackUrl: 'https://receiver.example/hook',
    eventTypes: [{ type: 'referral.created' }],
  });
  const id = webhookSubscription?.id ?? '';
  await updateWebhookSubscription(world.partnerApi, caller, { id, callbackUrl: 'https://receiver.example/other' });
  await deleteWebhookSubscription(world.partnerApi, caller, { id });

  expect(await changes()).toEqual(
    [
      'referral.create',
      'webhook_subscription.create',
      'webhook_subscription.update',
      'webhook_subscription.delete',
    ].map((action) => `portal ${action} ${caller.gid}`),
  );
  const [last] = await list();
  expect(last).toEqual({
    at: expect.any(Date),
    number: expect.stringMatching(/^\d+$/),
    transactionId: null,
    actorType: 'CLIENT',
    actor: 'portal',
    login: expect.stringMatching(/_partner_api$/),
    address: '203.0.113.7',
    requestId: 'request-1',
    action: 'webhook_subscription.delete',
    subject: id,
    accountId: caller.gid,
    details: {},
  });
});

test('records which event types a subscription has, and which an update adds and removes', async () => {
  await world.reset();
  const caller = { ...world.partner, clientId: 'portal' };
  const types = ['referral.created', 'referral.converted'].map((type) => ({ type }));
  const { webhookSubscription } = await createWebhookSubscription(world.partnerApi, caller, {
    callbackUrl: 'https://receiver.example/hook',
    eventTypes: types,
  });
  const id = webhookSubscription?.id ?? '';
  const update = (eventTypes: typeof types) => updateWebhookSubscription(world.partnerApi, caller, { id, eventTypes });
  await update(types);
  await update([{ type: 'referral.declined' }, { type: 'referral.created' }]);

  const others = { callbackUrlChanged: false, nameChanged: false };
  const entries = await listAuditEntries(world.operator, { subject: id, limit: 10 });
  expect(entries.map(({ details }) => details)).toEqual([
    {
      ...others,
      eventTypesChanged: true,
      eventTypesAdded: ['referral.declined@2026-11-01'],
      eventTypesRemoved: ['referral.converted@2026-11-01'],
    },
    { ...others, eventTypesChanged: false },
    { eventTypes: ['referral.created@2026-11-01', 'referral.converted@2026-11-01'] },
  ]);
});

test('records who ran the command, on which machine, and no secret', async () => {
  const account = { interfaceName: 'partner', accountId: world.partner.gid, clientId: null } as const;
  const expiresAt = new Date(Date.now() + 86_400_000);
  const issued = await issueCredential(world.operator, { ...account, expiresAt });
  const [entry] = await list();
  expect(entry).toEqual({
    at: expect.any(Date),
    number: expect.stringMatching(/^\d+$/),
    transactionId: expect.stringMatching(/^\d+$/),
    actorType: 'OPERATOR',
    actor: 'ada',
    login: expect.stringMatching(/_operator$/),
    address: 'desk',
    requestId: 'run-1',
    action: 'credential.issue',
    subject: keyIdOf(issued),
    accountId: world.partner.gid,
    details: {
      clientId: issued.clientId,
      command: 'credential.issue',
      new: {
        key_id: keyIdOf(issued),
        key_hash: 'hidden',
        abilities: '["READ", "READ_PAYLOAD", "OPERATE", "CONFIGURE", "WRITE"]',
        api_client_id: expect.any(String),
        interface: 'partner',
        created_at: expect.any(String),
        expires_at: expiresAt.toISOString().replace(/\.?0*Z$/, '+00:00'),
      },
    },
  });
});

test('names the command of each entry that the database writes', async () => {
  const account = { interfaceName: 'partner', accountId: world.partner.gid, clientId: null } as const;
  const issued = await issueCredential(world.operator, account);
  await rotateCredential(world.operator, { keyId: keyIdOf(issued), overlapSeconds: 0, expiresAt: null });
  await updateLender(world.operator, { lenderId: world.lender.gid, name: 'Renamed' });
  const entries = (await list()).toReversed();
  expect(entries.map(({ action, details }) => [action, 'command' in details && details.command])).toEqual([
    ['client.create', 'credential.issue'],
    ['credential.issue', 'credential.issue'],
    ['credential.expire', 'credential.rotate'],
    ['credential.issue', 'credential.rotate'],
    ['lender.update', 'lender.update'],
  ]);
  expect(entries.at(-1)).toMatchObject({
    subject: world.lender.gid,
    details: { old: { name: 'Lender' }, new: { name: 'Renamed' } },
  });
  // The two changes of a rotation have the same transaction.
  expect(entries[2]?.transactionId).toBe(entries[3]?.transactionId);
  expect(entries[1]?.transactionId).not.toBe(entries[2]?.transactionId);
});

test('lists a change of a session that named no actor', async () => {
  await world.sql(`update account set name = 'x' where id = $1`, [world.partner.accountId]);
  expect(await list()).toMatchObject([
    {
      actorType: null,
      actor: null,
      address: null,
      requestId: null,
      login: 'postgres',
      action: 'partner.update',
      subject: world.partner.gid,
      accountId: world.partner.gid,
    },
  ]);
});

test('reads all entries, oldest first, across pages', async () => {
  await world.sql(`
    insert into audit_entry (at, actor_type, actor, action, subject, details)
    select now() - make_interval(secs => n / 3), 'OPERATOR', 'ada', 'organization.create', n::text, '{"n": 9007199254740993}'
    from generate_series(1, 5000) n`);
  const read: StoredAuditEntry[] = [];
  for await (const entry of readAuditEntries(world.operator)) read.push(entry);
  expect(read).toHaveLength(5_000);
  const isInOrder = read.every((entry, index) => {
    const before = read[index - 1];
    if (before === undefined || before.at < entry.at) return true;
    return before.at.getTime() === entry.at.getTime() && BigInt(before.number) < BigInt(entry.number);
  });
  expect(isInOrder).toBe(true);
  expect(new Set(read.map(({ subject }) => subject)).size).toBe(5_000);
  expect(read[0]?.detailsJson).toBe('{"n": 9007199254740993}');
});

test('records nothing when the change fails or changes nothing', async () => {
  const name = 'Lender';
  await updateLender(world.operator, { lenderId: world.lender.gid, name });
  await expect(revokeCredential(world.operator, { keyId: 'nobody' })).rejects.toThrow('does not exist');
  await createReferral(world.partnerApi, world.partner, { clientName: '' });
  expect(await list()).toEqual([]);
});

test('a change without an audit entry is rolled back', async () => {
  await world.sql('alter table audit_entry add constraint no_more check (false) not valid');
  try {
    await expect(createReferral(world.partnerApi, world.partner, { clientName: 'Client' })).rejects.toThrow('no_more');
  } finally {
    await world.sql('alter table audit_entry drop constraint no_more');
  }
  expect(await world.sql('select from referral')).toEqual([]);
});

test('an account has its global identifier also if its type is not the name of its interface', async () => {
  const id = world.partner.gid.split('/').at(-1);
  const service = {
    ...firm,
    interfaces: { ...firm.interfaces, partner: { ...firm.interfaces.partner, account: 'PartnerAccount' } },
  };
  await world.sql(`update interface set account_type = 'PartnerAccount' where name = 'partner'`);
  onTestFinished(async () => {
    await world.sql(`update interface set account_type = 'Partner' where name = 'partner'`);
  });
  await world.sql(`update account set name = 'Renamed' where id = ${id}`);
  const subject = `gid://service/PartnerAccount/${id}`;
  const entries = await listAuditEntries({ ...world.operator, service }, { limit: 1 });
  expect(entries).toEqual([expect.objectContaining({ subject, accountId: subject })]);
});

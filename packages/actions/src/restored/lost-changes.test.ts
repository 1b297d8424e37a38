import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { LostChanges } from './lost-changes.ts';

/** The test service removes no records. */
const auditActions = { ...testService.auditActions, 'order.remove': 'delete' } as const;
const context = { gidNamespace: 'service', service: { ...testService, auditActions } };

const second = (number: number): string => new Date(Date.UTC(2027, 0, 31, 9, 0, number)).toISOString();

const entry = (number: number, action: string, subject: string, details: object = {}, by: object = {}): string => {
  const facts = { at: second(number), number: String(number), action, subject, accountId: null };
  return JSON.stringify({
    ...facts,
    actorType: 'OPERATOR',
    transactionId: null,
    login: 'operator_login',
    ...by,
    details,
  });
};

type Told = [action: string, subject: string, details?: object, by?: object];

function changesOf(...lost: Told[]): LostChanges {
  const changes = new LostChanges(context);
  for (const [index, told] of lost.entries())
    changes.addLost(entry(index, ...told), String(index), new Date(second(index)));
  return changes;
}

const idsOf = (...lost: Told[]): string[] =>
  changesOf(...lost)
    .changes()
    .map(({ id }) => id);
const customer = 'gid://service/Customer/1';
const client = { actorType: 'CLIENT', accountId: customer, login: 'customer_api_login' };
const hook = 'gid://service/WebhookSubscription/1';

test.each<[string, Told[], string[]]>([
  [
    'the last of a pause and a resumption',
    [
      ['webhook_subscription.pause', hook],
      ['webhook_subscription.resume', hook],
    ],
    ['resume:WebhookSubscription/1'],
  ],
  [
    'a deletion instead of what it makes void',
    [
      ['webhook_subscription.rotate', hook],
      ['webhook_subscription.delete', hook],
    ],
    ['delete:WebhookSubscription/1'],
  ],
  [
    'the creation alone of what was created since',
    [
      ['webhook_subscription.create', hook],
      ['webhook_subscription.rotate', hook],
    ],
    ['create:WebhookSubscription/1'],
  ],
  [
    'nothing of what was created and deleted since',
    [
      ['webhook_subscription.create', hook],
      ['webhook_subscription.delete', hook],
    ],
    [],
  ],
  [
    'an erasure also of a record that was removed',
    [
      ['person.erase', 'gid://service/Order/1'],
      ['order.remove', 'gid://service/Order/1'],
    ],
    ['erase:Order/1', 'delete:Order/1'],
  ],
  [
    'nothing of a key that was issued and revoked since',
    [
      ['credential.issue', 'k', { clientId: 'c' }],
      ['credential.revoke', 'k', { new: { revoked_at: 'x' } }],
    ],
    [],
  ],
  [
    'both keys of a rotation',
    [
      ['credential.expire', 'old', { new: { expires_at: second(0) } }],
      ['credential.issue', 'new', { clientId: 'c' }],
    ],
    ['expire:old', 'issue:new'],
  ],
  [
    'the replay of a cancellation',
    [['webhook_subscription.cancel-replay', hook, { replay: 'gid://service/WebhookReplay/2' }]],
    ['cancel:WebhookReplay/2'],
  ],
  [
    'each column of an update',
    [['client.update', 'c', { new: { cost_maximum: '2000', schema_version: '2026-11-01' } }]],
    ['limit:c', 'pin:c'],
  ],
  [
    'a permission as the last of its changes',
    [['customer.update', customer, { new: { webhook_listeners_forbidden_at: null } }]],
    ['listeners:Customer/1'],
  ],
  [
    'no record that is lost with its events',
    [
      ['order.place', 'x'],
      ['portal_session.start', 'x'],
      ['webhook_delivery.retry', 'x'],
      ['order.place', 'x', {}, client],
    ],
    [],
  ],
  [
    'the limit of a client that is lost',
    [
      ['client.create', 'c'],
      ['credential.issue', 'k', { clientId: 'c' }],
      ['client.set-limit', 'c', { new: { cost_maximum: '2000' } }],
    ],
    ['issue:k', 'limit:c'],
  ],
  [
    'the revocation of a key in spite of what a client wrote about it before or after',
    [
      ['webhook_listener.create', 'k', {}, client],
      ['webhook_subscription.create', 'k', {}, client],
      ['credential.revoke', 'k', { new: { revoked_at: 'x' } }],
      ['webhook_subscription.delete', 'k', {}, client],
    ],
    ['revoke:k', 'read:customer_api_login'],
  ],
  [
    'the revocation of a key by its owner, and that only operators manage keys',
    [
      ['credential.revoke', 'k', { new: { revoked_at: 'x' } }, client],
      ['database.key-self-service', 'database'],
    ],
    ['update:database', 'revoke:k'],
  ],
  [
    'an erasure and changes of accounts in spite of creations that a client wrote',
    [
      ['webhook_subscription.create', 'gid://service/Order/1', {}, client],
      ['webhook_subscription.create', customer, {}, client],
      ['person.erase', 'gid://service/Order/1'],
      ['customer.update', customer, { new: { webhook_listeners_forbidden_at: 'x' } }],
    ],
    ['erase:Order/1', 'listeners:Customer/1', 'read:customer_api_login'],
  ],
  [
    'a pause by an operator in spite of what a client wrote about the subscription',
    [
      ['webhook_subscription.create', hook, {}, client],
      ['webhook_subscription.pause', hook, {}, { accountId: customer }],
      ['webhook_subscription.resume', hook, {}, client],
      ['webhook_subscription.delete', hook, {}, { ...client, accountId: 'gid://service/Customer/2' }],
    ],
    [
      'pause:WebhookSubscription/1',
      'create:WebhookSubscription/1',
      'resume:WebhookSubscription/1',
      'delete:WebhookSubscription/1',
    ],
  ],
  [
    'what it does not know',
    [
      ['future.thing', 'x'],
      ['client.update', 'c', { new: { other: '1' } }],
      ['credential.expire', 'k', { new: { expires_at: null } }],
      ['cell.prune', 'cell/1'],
    ],
    ['read:0', 'read:1', 'read:2', 'read:3'],
  ],
])('lists %s', (_name, lost, ids) => {
  expect(idsOf(...lost)).toEqual(ids);
});

test('collects the columns of several entries', () => {
  const limits = changesOf(
    ['client.set-limit', 'c', { new: { cost_maximum: '2000', cost_restore_rate: '10' } }],
    ['client.set-limit', 'c', { new: { cost_maximum: '3000' } }],
  );
  expect(limits.changes().map(({ values }) => values)).toEqual([{ cost_maximum: '3000', cost_restore_rate: '10' }]);
  expect(Object.fromEntries(limits.counts)).toEqual({ 'client.set-limit': 2 });
});

test('lists an entry whose form it does not know', () => {
  const changes = new LostChanges(context);
  changes.addLost('{"action":7,"actorType":"OPERATOR"}', '9', new Date(0));
  expect(changes.changes()).toMatchObject([{ id: 'read:9', verb: 'read', subject: 'unreadable' }]);
  expect(Object.fromEntries(changes.counts)).toEqual({ unreadable: 1 });
});

test('finds what was made since by the subject and by the changed columns, and not what was made before', () => {
  const changes = changesOf(
    ['customer.update', customer, { new: { webhook_listeners_forbidden_at: 'x' } }],
    ['webhook_subscription.pause', hook],
  );
  const isSettled = () => changes.changes().map((change) => changes.remaining(change) === null);
  changes.addMade(entry(5, 'customer.update', customer, { new: { name: 'x' } }));
  changes.addMade(entry(0, 'webhook_subscription.resume', hook));
  expect(isSettled()).toEqual([false, false]);
  changes.addMade(entry(6, 'customer.update', customer, { new: { webhook_listeners_forbidden_at: null } }));
  changes.addMade(entry(7, 'webhook_subscription.resume', hook));
  expect(isSettled()).toEqual([true, true]);
});

test('settles each column of a limit', () => {
  const limits = changesOf(['client.set-limit', 'c', { new: { cost_maximum: '2000', cost_restore_rate: '10' } }]);
  limits.addMade(entry(5, 'client.set-limit', 'c', { new: { cost_restore_rate: '20' } }));
  const remaining = () => limits.changes().map((change) => limits.remaining(change)?.values);
  expect(remaining()).toEqual([{ cost_maximum: '2000' }]);
  limits.addMade(entry(6, 'client.set-limit', 'c', { new: { cost_maximum: '3000' } }));
  expect(remaining()).toEqual([undefined]);
});

test('lists what a client wrote after the rest, with one item for all that cannot be read', () => {
  const planted = Array.from({ length: 3_000 }, (_, index): Told => [`any.thing-${index}`, 'x', {}, client]);
  const changes = changesOf(
    ...planted,
    ['webhook_subscription.pause', hook, {}, client],
    ['webhook_subscription.rotate', '$(reboot)', {}, client],
    ['order.remove', 'gid://service/Order/1', {}, client],
    ['credential.issue', 'k', { clientId: '`reboot`' }],
    ['order.remove', 'gid://service/Order/2'],
  );
  changes.addLost(JSON.stringify({ ...client, details: 7 }), '3005', new Date(0));
  expect(changes.changes()).toMatchObject([
    { id: 'delete:Order/2' },
    { id: 'pause:WebhookSubscription/1' },
    { id: 'read:3003' },
    { id: 'read:customer_api_login', subject: '3,003 entries of customer_api_login, the first with the number 0' },
  ]);
  expect(Object.fromEntries(changes.counts)).toEqual({
    unreadable: 3_003,
    'webhook_subscription.pause': 1,
    'credential.issue': 1,
    'order.remove': 1,
  });
});

test('believes of a client only what settles its own changes', () => {
  const changes = changesOf(
    ['webhook_subscription.rotate', hook, {}, { accountId: customer }],
    ['webhook_subscription.pause', hook, {}, client],
  );
  const isSettled = () => changes.changes().map((change) => changes.remaining(change) === null);
  changes.addMade(entry(5, 'database.waive', 'erase:Order/1', {}, { ...client, accountId: null }));
  changes.addMade(entry(5, 'database.waive', 'erase:Order/2'));
  const waived = [1, 2, 3].map((number) => changes.wasMade('database.waive', `erase:Order/${number}`));
  expect(waived).toEqual([false, true, false]);
  changes.addMade(
    entry(5, 'webhook_subscription.resume', hook, {}, { ...client, accountId: 'gid://service/Customer/2' }),
  );
  changes.addMade(entry(5, 'webhook_subscription.rotate', hook, {}, client));
  expect(isSettled()).toEqual([false, false]);
  changes.addMade(entry(5, 'webhook_subscription.resume', hook, {}, client));
  expect(isSettled()).toEqual([false, true]);
});

test.each([
  ['a copy for tests', 'database.copied', 'database', /is a copy for tests: .* closed it at 2027-01-31T09:00:00/],
  ['another namespace', 'order.remove', 'gid://other/Order/1', /Order\/1, and GID_NAMESPACE is service/],
])('refuses the log of %s, unless a client wrote it', (_name, action, subject, message) => {
  const changes = new LostChanges(context);
  changes.addLost(entry(0, action, subject, {}, client), '0', new Date(0));
  changes.addMade(entry(0, action, subject, {}, client));
  expect(() => changes.addLost(entry(0, action, subject), '0', new Date(0))).toThrow(message);
  expect(() => changes.addMade(entry(0, action, subject))).toThrow(message);
});

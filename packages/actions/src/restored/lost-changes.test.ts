import { expect, test } from 'vitest';
import { LostChanges } from './lost-changes.ts';

const second = (number: number): string => new Date(Date.UTC(2027, 0, 31, 9, 0, number)).toISOString();

const entry = (number: number, action: string, subject: string, details: object = {}, by: object = {}): string => {
  const facts = { at: second(number), number: String(number), action, subject, accountId: null };
  return JSON.stringify({ ...facts, actorType: 'OPERATOR', transactionId: null, ...by, details });
};

type Told = [action: string, subject: string, details?: object, by?: object];

function changesOf(...lost: Told[]): LostChanges {
  const changes = new LostChanges();
  for (const [index, told] of lost.entries())
    changes.addLost(entry(index, ...told), String(index), new Date(second(index)));
  return changes;
}

const idsOf = (...lost: Told[]): string[] =>
  changesOf(...lost)
    .changes()
    .map(({ id }) => id);
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
      ['person.erase', 'gid://service/TeamMember/1'],
      ['member.remove', 'gid://service/TeamMember/1'],
    ],
    ['erase:TeamMember/1', 'delete:TeamMember/1'],
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
    [['partner.update', 'gid://service/Partner/1', { new: { webhook_listeners_forbidden_at: null } }]],
    ['listeners:Partner/1'],
  ],
  [
    'no record that is lost with its events',
    [
      ['referral.create', 'x'],
      ['portal_session.start', 'x'],
      ['webhook_delivery.retry', 'x'],
    ],
    [],
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
  const changes = new LostChanges();
  changes.addLost('{"action":7}', '9', new Date(0));
  expect(changes.changes()).toMatchObject([{ id: 'read:9', verb: 'read', subject: 'unreadable' }]);
  expect(Object.fromEntries(changes.counts)).toEqual({ unreadable: 1 });
});

test('finds what was made since by the subject and by the changed columns, and not what was made before', () => {
  const changes = changesOf(
    ['partner.update', 'p', { new: { webhook_listeners_forbidden_at: 'x' } }],
    ['webhook_subscription.pause', hook],
  );
  const isSettled = () => changes.changes().map((change) => changes.isSettled(change));
  changes.addMade(entry(5, 'partner.update', 'p', { new: { name: 'x' } }));
  changes.addMade(entry(0, 'webhook_subscription.resume', hook));
  expect(isSettled()).toEqual([false, false]);
  changes.addMade(entry(6, 'partner.update', 'p', { new: { webhook_listeners_forbidden_at: null } }));
  changes.addMade(entry(7, 'webhook_subscription.resume', hook));
  expect(isSettled()).toEqual([true, true]);
});

test('believes of a client only entries of what it can change, and prints no text that a shell would interpret', () => {
  const client = { actorType: 'CLIENT' };
  const ids = idsOf(
    ['member.remove', 'gid://service/TeamMember/1', {}, client],
    ['webhook_subscription.pause', hook, {}, client],
    ['webhook_subscription.rotate', '$(reboot)', {}, client],
    ['credential.issue', 'k', { clientId: '`reboot`' }],
  );
  expect(ids).toEqual(['read:0', 'pause:WebhookSubscription/1', 'read:2', 'read:3']);
  const changes = new LostChanges();
  changes.addMade(entry(0, 'database.waive', 'erase:Referral/1', {}, client));
  changes.addMade(entry(1, 'database.waive', 'erase:Referral/2'));
  const waived = [1, 2, 3].map((number) => changes.wasMade('database.waive', `erase:Referral/${number}`));
  expect(waived).toEqual([false, true, false]);
  const ofAnother = changesOf(['webhook_subscription.pause', hook]);
  ofAnother.addMade(
    entry(5, 'webhook_subscription.resume', hook, {}, { ...client, accountId: 'gid://service/Partner/2' }),
  );
  expect(ofAnother.changes().map((change) => ofAnother.isSettled(change))).toEqual([false]);
});

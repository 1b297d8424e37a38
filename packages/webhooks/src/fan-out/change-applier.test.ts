import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { ChangeApplier } from './change-applier.ts';
import { KnownEntries } from './known-entries.ts';
import { queueEntry } from './queue-entry.ts';
import { QueuedAccount } from './queued-account.ts';

test('applies at most 64 changes of an account together', async () => {
  const applied: string[] = [];
  const changes = new ChangeApplier({
    known: new KnownEntries(1_000),
    onSubscriptionChanged: async ({ subscriptionId }) => void applied.push(subscriptionId),
    examine: () => {},
    pause: () => {},
    onFenced: () => {},
    onEvent: () => {},
  });
  const account = new QueuedAccount(toRecordId('1'));
  for (let position = 1; position <= 100; position += 1) {
    account.waiting.add(queueEntry(position, null, toRecordId(String(position)), 0));
  }
  const claimed = changes.claim(account);
  await changes.apply(account, claimed);
  expect(applied).toHaveLength(64);
  // A round deletes those that were applied. Afterwards the next ones are first.
  for (let left = 64; left > 0; left -= 1) account.waiting.removeFirst();
  expect(account.need).toBe('change');
});

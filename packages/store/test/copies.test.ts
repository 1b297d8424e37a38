import { expect, onTestFinished, test } from 'vitest';
import { closeToOthers, type DeliveryKey, expireCopiedDeliveries } from '../src/copies/copies.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

test('a dry run counts what the real one closes, and every pending delivery ends, in parts', async () => {
  const database = await createServiceDatabase();
  onTestFinished(() => database.drop());
  const superuser = (text: string) =>
    withStore(database.databaseUrl, (store) => store.query({ name: 'test', text }, []));
  // Neighbouring ids that a double rounds up to the same number.
  await superuser(`
    insert into webhook_pending_delivery
      (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence, due_at, body_bytes)
    select 120410888858504153 + n % 3, 120410888858504247 + n, 1, 'customer', n, 'x', 'x', now(), n, now(), 1
    from generate_series(1, 12) n`);
  const found = await withStore(await database.urlFor('operator'), async (store) => {
    const counts = [await closeToOthers(store, { isDryRun: true }), await closeToOthers(store, { isDryRun: false })];
    let expired = 0;
    for (let after: DeliveryKey | null = ['0', '0']; after !== null;) {
      const batch = await expireCopiedDeliveries(store, after, 2);
      expired += batch?.expired ?? 0;
      after = batch?.last ?? null;
    }
    return { counts, expired };
  });
  const open = {
    activeSubscriptions: 0,
    keys: 0,
    portalSessions: 0,
    replays: 0,
    queuedEvents: 0,
    pendingDeliveries: 12,
  };
  expect(found).toEqual({ counts: [open, open], expired: 12 });
  expect(await superuser('select from webhook_pending_delivery')).toEqual([]);
});

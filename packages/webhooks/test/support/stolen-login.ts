import { interfaceNamesOf, roleOf } from '@deedwire/core';
import { createStore } from '@deedwire/store';
import type { TestedService } from '@deedwire/store/test-support';
import { connect, type Connection, eventually, missing } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createWebhookEngine } from '../../src/engine.ts';
import type { PendingDelivery } from '../../src/kernel/pending-delivery.ts';
import { createWorkerStore } from '../dispatch-storage/support.ts';
import { seedAccount, seedEvents, seedSubscription, type SeededAccount } from './seed.ts';
import { setTimer } from './set-timer.ts';

const insertRetry = `
  insert into webhook_replay (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id, last_id)
  values ($1, $4, $2, $3, false, 1, $3, $3::bigint + 1, $3::bigint - 1)`;

const mark = (time: string): string =>
  `update webhook_subscription set hastened_at = ${time}, send_pending_at = ${time} returning id`;

/** An account with a subscription that has received a delivery. */
interface Party extends SeededAccount {
  subscriptionId: string;
  deliveryId: string;
  eventId: string;
}

/**
 * An attacker who has stolen the database login of an interface of a service, while a worker runs, can do nothing to accounts and records of
 * another one.
 */
export async function testStolenLogin({ service, createDatabase }: TestedService): Promise<void> {
  const database = await forFile(createDatabase());
  const superuser = await forFile(connect(database.databaseUrl));
  const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
  const directUrl = await database.urlFor('webhook_worker');
  const workerStore = await forFile(createWorkerStore(directUrl, { maxConnections: 10 }));
  const sent: PendingDelivery[] = [];
  const engine = createWebhookEngine({
    store: workerStore,
    fanOutStore: workerStore,
    renewalStore: workerStore,
    directUrl,
    name: 'test',
    clock: { nowMs: () => Date.now(), setTimer },
    random: Math.random,
    renderer: { knowsType: () => true, knows: () => true, render: () => Buffer.from('{}') },
    async send(_, delivery) {
      sent.push(delivery);
      return { startedAt: new Date(), durationMs: 0, responseStatus: 200, error: null, retryAfter: null };
    },
    openSecret: () => 'secret',
    retiredVersions: () => [],
    slots: 16,
    pollMs: 20,
    retentionDays: 30,
    exchangeRetentionDays: 7,
    replayRetentionDays: 90,
    onEvent: () => {},
  });
  await engine.start();
  afterAll(() => engine.drain());

  const sentTo = ({ subscriptionId }: Pick<Party, 'subscriptionId'>): PendingDelivery[] =>
    sent.filter((delivery) => delivery.subscriptionId === subscriptionId);

  async function addParty(interfaceName: string): Promise<Party> {
    const account = await seedAccount(store, interfaceName);
    const subscriptionId: string = await store.transaction((transaction) => seedSubscription(transaction, account));
    await store.transaction((transaction) => seedEvents(transaction, account, 1));
    await eventually(async () => expect(sentTo({ subscriptionId })).toHaveLength(1));
    const [{ deliveryId, eventId } = missing()] = sentTo({ subscriptionId });
    return { ...account, subscriptionId, deliveryId, eventId };
  }

  /** Resolves once the worker has done all that was queued, and delivered one more event to the account, as it should. */
  async function settle(party: Party): Promise<void> {
    const before = sentTo(party).length;
    await store.transaction((transaction) => seedEvents(transaction, party, 1));
    await eventually(async () => expect(sentTo(party)).toHaveLength(before + 1));
    await eventually(async () => expect(await superuser.run('select from webhook_event_queue')).toEqual([]));
  }

  const names = interfaceNamesOf(service);
  const pairs = names.flatMap((thief) => names.filter((name) => name !== thief).map((name) => [thief, name] as const));

  describe.each(pairs)('the stolen login of the %s interface, to accounts of %s', (thief, other) => {
    let login: Connection;
    let attacker: Party;
    let victim: Party;

    beforeEach(async () => {
      login = await forTest(connect(await database.urlFor(roleOf(thief))));
      attacker = await addParty(thief);
      victim = await addParty(other);
    });

    test('cannot ask for a delivery, and the worker sends it to no other account', async () => {
      const retry = [attacker.id, attacker.subscriptionId, victim.deliveryId, thief];
      await expect(login.run(insertRetry, retry)).rejects.toThrow(
        `The subscription ${attacker.subscriptionId} has no delivery ${victim.deliveryId}.`,
      );
      // As a login could before the database refused it.
      await superuser.run(insertRetry, retry);
      await superuser.run(
        'insert into webhook_event_queue (account_id, interface, subscription_id) values ($1, $2, $3)',
        [attacker.id, thief, attacker.subscriptionId],
      );
      const ended = () =>
        superuser.run('select queued, skipped from webhook_replay where ended_at is not null and account_id = $1', [
          attacker.id,
        ]);
      await eventually(async () => expect(await ended()).toEqual([{ queued: 0, skipped: 0 }]));
      await settle(attacker);
      expect(sentTo(attacker).map(({ accountId }) => accountId)).toEqual([attacker.id, attacker.id]);
      expect(sentTo(victim)).toHaveLength(1);
    });

    test('leads to nothing with events and subscriptions in the queue', async () => {
      for (const [eventId, subscriptionId] of [
        [victim.eventId, null],
        [victim.eventId, attacker.subscriptionId],
        [attacker.eventId, victim.subscriptionId],
        [null, victim.subscriptionId],
      ])
        await login.run(
          'insert into webhook_event_queue (account_id, interface, event_id, subscription_id) values ($1, $2, $3, $4)',
          [attacker.id, thief, eventId, subscriptionId],
        );
      await settle(attacker);
      expect(new Set(sentTo(attacker).map(({ accountId }) => accountId))).toEqual(new Set([attacker.id]));
      expect(sentTo(victim)).toHaveLength(1);
      await settle(victim);
    });

    test('marks no subscription, and a mark in the future stops nothing', async () => {
      await expect(login.run(mark(`'infinity'`))).rejects.toThrow('violates check constraint');
      for (const time of ['clock_timestamp()', `'9999-12-31Z'`]) {
        const marked = await login.run(mark(time));
        expect(marked).toContainEqual({ id: attacker.subscriptionId });
        expect(marked).not.toContainEqual({ id: victim.subscriptionId });
        await settle(attacker);
      }
    });

    test('ends no worker, and stops none, with any row', async () => {
      const own = `${attacker.id}, '${thief}'`;
      const replay = (types: string) =>
        `insert into webhook_replay (account_id, interface, subscription_id, event_types, only_failed, per_second, from_id, until_id, last_id)
         values (${own}, ${attacker.subscriptionId}, ${types}, true, 1, 0, 9223372036854775807, 0)`;
      const eventTypes = (count: number, length: number) =>
        `insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
         select ${attacker.subscriptionId}, '${thief}', lpad(g::text, ${length}, 'a'), 'x' from generate_series(1, ${count}) g`;
      const subscriptions = (count: number) =>
        `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
         select ${own}, '', '', 0 from generate_series(1, ${count})`;
      const queue = (eventId: number) =>
        `insert into webhook_event_queue (account_id, interface, event_id) values (${own}, ${eventId})`;
      const bound = 'violates check constraint';
      for (const [statement, refusal] of [
        [replay(`array[repeat('a', 1000000)]`), bound],
        [replay(`array_fill('a'::text, array[101])`), bound],
        [`update webhook_subscription set callback_url = 'https://x/' || repeat('a', 1000000)`, bound],
        [`update webhook_subscription set secret_ciphertext = convert_to(repeat('a', 1000000), 'UTF8')`, bound],
        [eventTypes(1, 100_000), bound],
        [eventTypes(101, 100), `The subscription ${attacker.subscriptionId} may have 100 event types.`],
        [subscriptions(21), `The account ${attacker.id} may have 20 subscriptions.`],
        [queue(0), bound],
        [queue(-1), bound],
      ] as const)
        await expect(login.run(statement)).rejects.toThrow(refusal);
      await settle(attacker);
      await settle(victim);
    });

    test('reads and writes no table', async () => {
      const own = await superuser.run('select relation as name from own_table where of_interface = $1', [thief]);
      const foreign = service.tables.filter((table) => !own.some(({ name }) => name === table));
      expect(foreign.length + own.length).toBe(service.tables.length);
      expect(foreign).not.toEqual([]);
      for (const table of foreign)
        for (const statement of [
          `select from ${table}`,
          `insert into ${table} default values`,
          `update ${table} set id = id`,
          `delete from ${table}`,
          `truncate ${table}`,
        ])
          await expect(login.run(statement)).rejects.toThrow(`permission denied for table ${table}`);
    });
  });
}

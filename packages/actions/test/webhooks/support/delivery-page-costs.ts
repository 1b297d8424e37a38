import { toRecordId } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import type { History } from '@deedwire/webhooks/test-support';
import { selectAttempts } from '../../../src/webhooks/deliveries/attempts.ts';
import { selectDelays } from '../../../src/webhooks/deliveries/delay.ts';
import { selectDeliveriesOfEach } from '../../../src/webhooks/deliveries/deliveries-of-each.ts';
import { selectDeliveriesOfEvent } from '../../../src/webhooks/deliveries/deliveries-of-event.ts';
import { selectDeliveriesOfRecord } from '../../../src/webhooks/deliveries/deliveries-of-record.ts';
import {
  selectDeliveries,
  selectDeliveriesOfAllAccounts,
  selectDelivery,
} from '../../../src/webhooks/deliveries/deliveries.ts';
import {
  selectExchanges,
  selectResponseBodies,
  selectShownPayloads,
} from '../../../src/webhooks/deliveries/exchanges.ts';
import { AttemptFollower } from '../../../src/webhooks/deliveries/followed-attempts.ts';
import type { DeliveryRow } from '../../../src/webhooks/deliveries/pages.ts';
import { selectSearchedDeliveries } from '../../../src/webhooks/deliveries/searched-deliveries.ts';
import { selectSubscriptions, selectSubscriptionState } from '../../../src/webhooks/subscriptions/subscriptions.ts';
import { explainingDatabase } from './explaining-database.ts';

const statuses = [null, 'PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const;

export interface PageCost {
  list: string;
  rows: number;
  statements: number;
  /** The maximum of all statements. */
  buffers: number;
  /** The sum of all statements. */
  buffersOfPage: number;
  /** The maximum of all statements. */
  locks: number;
  /** The statement that read the most buffers. */
  costliest: string;
}

/** Reads pages of deliveries as the APIs and operators do, with their rights, and measures each statement. */
export async function measurePages(testDatabase: TestDatabase, history: History): Promise<PageCost[]> {
  const api = await connect(await testDatabase.urlFor('customer_api'));
  const operator = await connect(await testDatabase.urlFor('operator'));
  const measured: PageCost[] = [];
  const measure = async (
    list: string,
    connection: typeof api,
    read: (database: ReturnType<typeof explainingDatabase>['database']) => Promise<readonly unknown[]>,
  ): Promise<void> => {
    const { database, costs } = explainingDatabase(connection);
    const rows = await read(database);
    const [costliest] = costs.toSorted((a, b) => b.buffers - a.buffers);
    if (costliest === undefined) throw new Error(`${list} ran no statement.`);
    measured.push({
      list,
      rows: rows.length,
      statements: costs.length,
      buffers: costliest.buffers,
      buffersOfPage: costs.reduce(
        (sum, { statement, buffers }) => sum + (statement.endsWith('(custom)') ? buffers : 0),
        0,
      ),
      locks: Math.max(...costs.map(({ locks }) => locks)),
      costliest: costliest.statement,
    });
  };

  const { busy, quiet } = history;
  for (const [name, { accountId, subscriptionIds }, index] of [
    ['busy account', busy, null],
    ['busiest subscription', busy, 0],
    ['subscription with few deliveries', busy, 1],
    ['subscription without deliveries', busy, 19],
    ['quiet account', quiet, null],
  ] as const) {
    const subscriptionId = index === null ? null : (subscriptionIds[index] ?? null);
    for (const status of statuses) {
      let last: DeliveryRow | undefined;
      const filter = { accountId, subscriptionId, status };
      for (const [page, limit] of [
        ['first page', 101],
        ['second page', 21],
      ] as const) {
        await measure(`${name}, ${status ?? 'any status'}, ${page}`, api, async (database) => {
          const { rows } = await selectDeliveries(database, filter, { afterId: last?.id ?? null, limit });
          last = rows.at(-1);
          return rows;
        });
      }
      await measure(`${name}, ${status ?? 'any status'}, of a type without deliveries`, api, async (database) => {
        const { rows } = await selectSearchedDeliveries(
          database,
          filter,
          { eventType: 'other', eventId: null },
          { afterId: null, limit: 21 },
        );
        return rows;
      });
      // A record costs the same in each state except for pending ones, which are in another table.
      if (last !== undefined && (status === null || status === 'PENDING')) await measureRecords(name, last);
    }
  }
  const busyRecord = toRecordId<'Order'>(String(BigInt(history.recordId) + 1n));
  for (const [name, recordId] of [
    ['a record', history.recordId],
    ['a record with many deliveries', busyRecord],
    ['a record without deliveries', toRecordId<'Order'>('1')],
  ] as const) {
    for (const status of recordId === busyRecord ? [null] : statuses) {
      // The first subscription has most of them, the last one none.
      for (const subscriptionId of [null, busy.subscriptionIds[0] ?? null, busy.subscriptionIds[5] ?? null]) {
        const filter = { accountId: busy.accountId, subscriptionId, status };
        const events = { recordId, isDrawn: true, eventTypes: ['order.placed'], eventId: null };
        let afterId: DeliveryRow['id'] | null = null;
        for (const page of ['first page', 'second page']) {
          const of = subscriptionId === null ? '' : ` to subscription ${busy.subscriptionIds.indexOf(subscriptionId)}`;
          await measure(`${name}, ${status ?? 'any status'}${of}, ${page}`, api, async (database) => {
            const { rows } = await selectDeliveriesOfRecord(database, filter, events, { afterId, limit: 21 });
            afterId = rows.at(-1)?.id ?? afterId;
            return rows;
          });
        }
      }
    }
  }
  for (const [name, eventId] of [
    ['an event about a record', history.eventId],
    ['an event of which nothing is kept', toRecordId<'WebhookEvent'>(String(BigInt(history.eventId) + 1n))],
  ] as const) {
    for (const status of statuses) {
      const filter = { accountId: busy.accountId, subscriptionId: null, status };
      await measure(`${name}, ${status ?? 'any status'}`, api, async (database) => {
        const events = { eventId, eventType: null };
        const { rows } = await selectDeliveriesOfEvent(database, filter, events, { afterId: null, limit: 21 });
        return rows;
      });
    }
  }
  for (const status of statuses) {
    for (const limit of [2, 21, 101]) {
      await measure(`each subscription, ${status ?? 'any status'}, ${limit} deliveries`, api, async (database) => {
        const pages = busy.subscriptionIds.map((subscriptionId) => ({ subscriptionId, status, afterId: null, limit }));
        return (await selectDeliveriesOfEach(database, busy.accountId, pages)).flat();
      });
    }
  }
  for (const status of statuses) {
    await measure(`all accounts, ${status ?? 'any status'}`, operator, async (database) => {
      const { rows } = await selectDeliveriesOfAllAccounts(database, { status }, { afterId: null, limit: 101 });
      return rows;
    });
    const since = new Date(Date.now() - 20 * 86_400_000);
    const until = new Date(Date.now() - 19 * 86_400_000);
    await measure(`all accounts, ${status ?? 'any status'}, of a day`, operator, async (database) => {
      const page = { afterId: null, limit: 101 };
      const { rows } = await selectDeliveriesOfAllAccounts(database, { status, since, until }, page);
      return rows;
    });
  }
  const firstPage = { afterId: null, limit: 101 };
  for (const accountId of [null, busy.accountId]) {
    await measure(`subscriptions of ${accountId === null ? 'all accounts' : 'an account'}`, operator, (database) =>
      selectSubscriptions(database, { accountId, status: 'ACTIVE' }, firstPage),
    );
  }
  for (const subscriptionId of [null, busy.subscriptionIds[0] ?? null]) {
    const name = subscriptionId === null ? 'busy account' : 'busiest subscription';
    const followed = { accountId: busy.accountId, subscriptionId };
    await measure(`a poll of the attempts of the ${name}`, operator, (database) =>
      new AttemptFollower(database, followed).poll(),
    );
  }
  await measure('the state of the busiest subscription', operator, async (database) => [
    await selectSubscriptionState(database, busy.subscriptionIds[0] ?? toRecordId('1'), 1_000),
  ]);
  await api.close();
  await operator.close();
  return measured;

  async function measureRecords(name: string, { id }: DeliveryRow): Promise<void> {
    const { accountId, subscriptionIds } = history.busy;
    await measure(`a delivery of the ${name}`, api, async (database) => [
      await selectDelivery(database, accountId, id),
    ]);
    const page = { afterId: id, limit: 100 };
    const subscriptionId = subscriptionIds[0] ?? null;
    let listed: DeliveryRow[] = [];
    await measure(`deliveries after it`, api, async (database) => {
      const { rows } = await selectDeliveries(database, { accountId, subscriptionId, status: null }, page);
      listed = rows;
      return rows;
    });
    await measure(`attempts of 100 deliveries`, api, (database) =>
      selectAttempts(
        database,
        listed.map((row) => ({ deliveryId: row.id, before: null, limit: 20 })),
      ),
    );
    const attempts = await selectAttempts(
      explainingDatabase(api).database,
      listed.map((row) => ({ deliveryId: row.id, before: null, limit: 1 })),
    );
    // A delivery without an attempt stands for attempts of all days, of which nothing was kept.
    const keys = listed.map((row, index) => ({
      deliveryId: row.id,
      number: 1,
      startedAt: attempts[index]?.[0]?.startedAt ?? new Date(Date.now() - index * 3_600_000),
    }));
    await measure(`details of 100 attempts`, api, async (database) =>
      (await selectExchanges(database, keys)).filter((row) => row !== null),
    );
    await measure(`response bodies of 100 attempts`, api, (database) => selectResponseBodies(database, keys));
    await measure(`delays of 100 deliveries`, api, (database) => selectDelays(database, listed));
    await measure(`payloads of 20 deliveries`, api, (database) => selectShownPayloads(database, listed.slice(0, 20)));
  }
}

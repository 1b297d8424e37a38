import { setTimeout as sleep } from 'node:timers/promises';
import type { AppEnd } from '@deedwire/dev-environment';
import type { TestSystem } from '@deedwire/dev-environment/harness';
import { missing } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { expect } from 'vitest';
import { type ClientAccount, createClientAccounts } from '../client-accounts.ts';
import { startLoad } from '../faults/load.ts';
import { pullSettledDeliveries } from '../pull.ts';
import { subscribe } from '../subscribe.ts';
import { startReceiverCluster } from './receiver-cluster.ts';
import { createReceiverDatabase } from './receiver-database.ts';

export interface Replacements {
  signal: NodeJS.Signals;
  times: number;
}

export interface ReplacementsResult {
  ends: AppEnd[];
  /** Events, each with one effect. */
  events: number;
  /** How many handlers were called. */
  started: number;
}

// While the breaker of one subscription is open, the others go on.
const accountCount = 4;
const effectsBetween = 10;
const delayMaxMs = 50;

/** The ids of all orders of an account. */
export async function ordersOf({ sql }: Pick<TestSystem, 'sql'>, accountId: string): Promise<string[]> {
  const orders = await sql(`select 'gid://service/Order/' || id as id from customer_order where account_id = $1`, [
    accountId.split('/').at(-1),
  ]);
  return orders.map(({ id }) => String(id));
}

/**
 * Ends processes of a receiver at random points while the worker delivers to it, and compares the effects of its handlers with
 * what is stored: each delivery and each order has one.
 */
export async function replaceUnderLoad(t: TestSystem, { signal, times }: Replacements): Promise<ReplacementsResult> {
  const secret = generateWebhookSecret();
  const database = await createReceiverDatabase();
  const cluster = await startReceiverCluster(database.databaseUrl, secret);
  try {
    const subscribed = new Map<string, ClientAccount & { subscriptionId: string }>();
    for (const account of await createClientAccounts('customer', t, accountCount)) {
      const { id: subscriptionId } = await subscribe(account.client, {
        callbackUrl: cluster.url,
        eventTypes: [{ type: 'order.placed' }],
        webhookSecret: secret,
      });
      subscribed.set(account.accountId, { ...account, subscriptionId });
    }

    const accepted: string[] = [];
    const load = startLoad({
      accounts: [...subscribed.values()],
      clientOf: (accountId) => (subscribed.get(accountId) ?? missing()).client,
      log: { add: async ({ recordId }) => void accepted.push(recordId) },
    });
    const ends: AppEnd[] = [];
    try {
      for (let time = 0; time < times; time += 1) {
        await database.waitForMore(effectsBetween);
        await sleep(Math.random() * delayMaxMs);
        ends.push(await cluster.replaceOne(signal));
      }
    } finally {
      await load.stop();
    }

    const pulled = await Promise.all(
      [...subscribed.values()].map(async ({ accountId, client, subscriptionId }) => {
        const orderIds = await ordersOf(t, accountId);
        return { orderIds, deliveries: await pullSettledDeliveries(client, subscriptionId, orderIds.length) };
      }),
    );
    const deliveries = pulled.flatMap((each) => each.deliveries);
    const orderIds = pulled.flatMap((each) => each.orderIds).toSorted();
    const effects = await database.effects();
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['DELIVERED']));
    expect(effects.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(deliveries.map(({ id }) => id).toSorted());
    expect(effects.map(({ eventId }) => eventId).toSorted()).toEqual(
      deliveries.map(({ event }) => event.id).toSorted(),
    );
    expect(effects.map(({ orderId }) => orderId).toSorted()).toEqual(orderIds);
    expect(accepted.toSorted()).toEqual(orderIds);
    return { ends, events: effects.length, started: await database.started() };
  } finally {
    await cluster.close();
    await database.close();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness, TestAccount } from '@deedwire/dev-environment/harness';
import { postGraphql, type Receiver } from '@deedwire/testing';
import { expect } from 'vitest';
import { comeHome, freeze, untilQuiet } from './homes.ts';

const place = `mutation ($name: String!, $key: String) {
  placeOrder(input: { item: $name, idempotencyKey: $key }) { order { id } userErrors { code } }
}`;
const rename = `mutation ($id: ID!, $name: String!) {
  updateWebhookSubscription(input: { id: $id, name: $name }) { webhookSubscription { name } userErrors { code } }
}`;

const clientsOfEach = 3;

const numberOf = (gid = ''): string => gid.slice(gid.lastIndexOf('/') + 1);

/**
 * Freezes `leaving` while it and `staying` create orders and rename their subscriptions through an API: at each of their requests,
 * one freeze after the other.
 *
 * @returns how many changes of `leaving` were acknowledged and refused
 */
export async function freezeAtRequests(
  harness: Harness,
  { url, leaving, staying, receiver }: { url: string; leaving: TestAccount; staying: TestAccount; receiver: Receiver },
  freezes: number,
): Promise<{ acknowledged: number; refused: number }> {
  const subscriptions = new Map<TestAccount, string>();
  for (const account of [leaving, staying])
    subscriptions.set(account, (await harness.subscribe(receiver.url, ['order.placed'], account)).id);
  const counts = { acknowledged: 0, refused: 0 };
  const names = new Map<TestAccount, string[]>([
    [leaving, []],
    [staying, []],
  ]);
  const lastName = new Map<TestAccount, string>();
  let number = 0;
  let isEnded = false;

  const send = async (account: TestAccount, query: string, variables: object): Promise<boolean> => {
    const { status, headers, body } = await postGraphql(url, account.credential, { query, variables });
    if (status === 503 && account === leaving) {
      expect(body.errors?.[0]?.extensions.code).toBe('SERVICE_UNAVAILABLE');
      expect(headers.get('Retry-After')).toBe('5');
      counts.refused += 1;
      return false;
    }
    expect({ status, ...body }).toEqual({ status: 200, data: expect.anything(), extensions: expect.anything() });
    expect(Object.values(body.data ?? {})).toEqual([expect.objectContaining({ userErrors: [] })]);
    if (account === leaving) counts.acknowledged += 1;
    return true;
  };
  /** Sends one change, with its key again until it is accepted. */
  const placeOnce = async (account: TestAccount): Promise<void> => {
    const name = `R${(number += 1)}`;
    const key = number % 2 === 0 ? name : null;
    for (let isAccepted = false; !isAccepted;) {
      isAccepted = await send(account, place, { name, key });
      if (!isAccepted) await sleep(2);
    }
    names.get(account)?.push(name);
  };
  const renameOnce = async (account: TestAccount): Promise<void> => {
    const name = `N${(number += 1)}`;
    if (await send(account, rename, { id: subscriptions.get(account), name })) lastName.set(account, name);
    else await sleep(2);
  };
  const repeat = async (work: () => Promise<void>): Promise<void> => {
    while (!isEnded) await work();
  };
  const clients = [leaving, staying].flatMap((account) => [
    repeat(() => renameOnce(account)),
    ...Array.from({ length: clientsOfEach }, () => repeat(() => placeOnce(account))),
  ]);

  const ids = [leaving.accountId];
  const stored = async (): Promise<unknown> =>
    harness.sql(
      `select (select array_agg(item order by item) from customer_order where account_id = $1) as names,
        (select array_agg(name) from webhook_subscription where account_id = $1) as subscriptions,
        (select count(*) from webhook_event_queue where account_id = $1) as queued,
        (select count(*) from webhook_delivery where account_id = $1) as "fannedOut"`,
      ids,
    );
  /** What attempts of `leaving` write. */
  const attempted = async (): Promise<unknown> => [
    await harness.sql(
      `select (select array_agg((p.delivery_id, p.attempts) order by p.delivery_id) from webhook_pending_delivery p where account_id = $1) as pending,
        (select count(*) from webhook_attempt where subscription_id = $2) as attempts`,
      [leaving.accountId, numberOf(subscriptions.get(leaving))],
    ),
    receiver.deliveries.filter(
      ({ headers }) => headers['x-service-webhook-subscription-id'] === subscriptions.get(leaving),
    ).length,
  ];
  const load = Promise.all(clients);
  try {
    for (let count = 0; count < freezes; count += 1) {
      // On a slow machine, the last freeze can have ended without a change.
      while (counts.acknowledged <= count) await Promise.race([sleep(0), load]);
      const before = number;
      while (number === before) await Promise.race([sleep(0), load]);
      const frozenAt = await freeze(harness, ids);
      const rows = await stored();
      const accepted = [...(names.get(leaving) ?? [])];
      await untilQuiet(harness, frozenAt);
      const attempts = await attempted();
      await sleep(count % 8);
      // What is acknowledged by now was acknowledged for a change from before the end of the freeze.
      const [{ names: found = [] } = {}] = rows as { names?: string[] }[];
      const known = new Set(found);
      expect(accepted.filter((name) => !known.has(name))).toEqual([]);
      expect(await stored()).toEqual(rows);
      expect(await attempted()).toEqual(attempts);
      await comeHome(harness, ids);
    }
  } finally {
    isEnded = true;
    await load;
  }
  for (const account of [leaving, staying]) {
    const orders = await harness.sql('select item as name from customer_order where account_id = $1 order by 1', [
      account.accountId,
    ]);
    const created = orders.map(({ name }) => String(name)).filter((name) => /^R\d+$/.test(name));
    expect(created.toSorted()).toEqual(names.get(account)?.toSorted());
    expect(
      await harness.sql('select name from webhook_subscription where id = $1', [numberOf(subscriptions.get(account))]),
    ).toEqual([{ name: lastName.get(account) }]);
  }
  // Each event is delivered, once: no process ended.
  const expected = [...names.values()].flat().length;
  await receiver.waitFor(expected);
  const sequences = receiver.deliveries.map(
    ({ headers }) =>
      `${String(headers['x-service-webhook-subscription-id'])} ${String(headers['x-service-webhook-sequence'])}`,
  );
  expect(new Set(sequences).size).toBe(expected);
  expect(sequences).toHaveLength(expected);
  return counts;
}

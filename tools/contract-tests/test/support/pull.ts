import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type Client } from '@deedwire/testing';
import { expect } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';

const referralPageSize = 100;
// An operation can cost 1,000 points, and each delivery is priced with 20 attempts.
const deliveryPageSize = 30;
const pollMs = 200;
// Guards against hanging only: after a third failure, a retry waits for up to 54 s.
const settledWithinMs = 180_000;

interface Page<Node> {
  nodes: Node[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

async function allPages<Node>(read: (after: string | null) => Promise<Page<Node>>): Promise<Node[]> {
  const all: Node[] = [];
  for (let after: string | null = null; ;) {
    const { nodes, pageInfo }: Page<Node> = await read(after);
    all.push(...nodes);
    if (!pageInfo.hasNextPage) return all;
    after = pageInfo.endCursor;
  }
}

/** The ids of all referrals of an account, newest first. */
export async function pullReferralIds(client: Client): Promise<string[]> {
  const referrals = await allPages(async (after) => {
    const data = await client.request(operations.ReferralsDocument, { first: referralPageSize, after });
    return data.referrals;
  });
  return referrals.map(({ id }) => id);
}

/** All deliveries of a subscription, newest first. */
export function pullDeliveries(client: Client, subscriptionId: string): Promise<operations.DeliveryFieldsFragment[]> {
  return allPages(async (after) => {
    const data = await client.request(operations.DeliveriesDocument, {
      subscriptionId,
      first: deliveryPageSize,
      after,
    });
    return data.webhookDeliveries;
  });
}

/** Waits until a subscription has this number of deliveries and none is pending. Returns them, newest first. */
export function pullSettledDeliveries(
  client: Client,
  subscriptionId: string,
  count: number,
): Promise<operations.DeliveryFieldsFragment[]> {
  return eventually(async () => {
    await sleep(pollMs);
    const pending = { subscriptionId, status: 'PENDING', first: 1 } as const;
    const { webhookDeliveries } = await client.request(operations.DeliveriesDocument, pending);
    expect(webhookDeliveries.nodes).toEqual([]);
    const deliveries = await pullDeliveries(client, subscriptionId);
    expect(deliveries).toHaveLength(count);
    expect(deliveries.map(({ status }) => status)).not.toContain('PENDING');
    return deliveries;
  }, settledWithinMs);
}

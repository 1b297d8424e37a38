import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type Client } from '@deedwire/testing';
import { expect } from 'vitest';
import { DeliveriesDocument, type Delivery, type DeliveryPage } from './webhook-operations.ts';

// An operation can cost 1,000 points, and each delivery is priced with 20 attempts.
const deliveryPageSize = 30;
const pollMs = 200;
// Guards against hanging only: after a third failure, a retry waits for up to 54 s.
const settledWithinMs = 180_000;

async function pageOf(client: Client, subscriptionId: string, after: string | null): Promise<DeliveryPage> {
  const page = { subscriptionId, first: deliveryPageSize, after };
  return (await client.request(DeliveriesDocument, page)).webhookDeliveries;
}

/** All deliveries of a subscription, newest first. */
export async function pullDeliveries(client: Client, subscriptionId: string): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let after: string | null = null; ;) {
    const { nodes, pageInfo }: DeliveryPage = await pageOf(client, subscriptionId, after);
    all.push(...nodes);
    if (!pageInfo.hasNextPage) return all;
    after = pageInfo.endCursor;
  }
}

/** Waits until a subscription has this number of deliveries and none is pending. Returns them, newest first. */
export function pullSettledDeliveries(client: Client, subscriptionId: string, count: number): Promise<Delivery[]> {
  return eventually(async () => {
    await sleep(pollMs);
    const pending = { subscriptionId, status: 'PENDING', first: 1 } as const;
    const { webhookDeliveries } = await client.request(DeliveriesDocument, pending);
    expect(webhookDeliveries.nodes).toEqual([]);
    const deliveries = await pullDeliveries(client, subscriptionId);
    expect(deliveries).toHaveLength(count);
    expect(deliveries.map(({ status }) => status)).not.toContain('PENDING');
    return deliveries;
  }, settledWithinMs);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, type Receiver } from '@deedwire/testing';
import { expect } from 'vitest';

export interface Payment {
  orderId: string;
  /** Of the response of the shop. */
  status: number;
}

export interface Traffic {
  /** Resolves when what has begun before has ended. */
  drain(): Promise<unknown>;
  /** Ends it, and resolves with what came of it. */
  stop(): Promise<Payments>;
}

interface Payments {
  /** The ids of the orders whose payments the shop has confirmed. */
  paid: string[];
  /** How many transactions the shop has rolled back after it had appended the event. */
  refused: number;
  /** Every other response, and failed connections. */
  failures: string[];
}

/**
 * Begins a payment again and again. Of each four, one is of an order that is too expensive.
 *
 * @param pay rejects if a response has another status than expected, or none comes
 */
export function startTraffic(pay: (isTooExpensive: boolean) => Promise<Payment>, everyMs: number): Traffic {
  const result: Payments = { paid: [], refused: 0, failures: [] };
  const begun = new Set<Promise<void>>();
  let isStopped = false;

  async function payOnce(isTooExpensive: boolean): Promise<void> {
    try {
      const { orderId, status } = await pay(isTooExpensive);
      if (status === 200) result.paid.push(orderId);
      else if (status === 402 && isTooExpensive) result.refused += 1;
      else result.failures.push(`the payment was answered with ${status}`);
    } catch (error) {
      result.failures.push(String(error));
    }
  }
  async function run(): Promise<void> {
    for (let count = 1; !isStopped; count += 1) {
      const payment = payOnce(count % 4 === 0);
      begun.add(payment);
      void payment.then(() => begun.delete(payment));
      await sleep(everyMs);
    }
  }
  const running = run();
  const drain = () => Promise.all(begun);
  return {
    drain,
    async stop() {
      isStopped = true;
      await running;
      await drain();
      return result;
    },
  };
}

/** The ids of the events that were delivered of each order: those of their deliveries, of one subscription. */
export function deliveredOrders({ deliveries }: Pick<Receiver, 'deliveries'>): Map<string, Set<unknown>> {
  const found = new Map<string, Set<unknown>>();
  for (const { body, headers } of deliveries) {
    const { data }: { data: { orderId: string } } = JSON.parse(body.toString());
    found.set(data.orderId, (found.get(data.orderId) ?? new Set()).add(headers['webhook-id']));
  }
  return found;
}

/** Expects that of each order that is paid in the database one event arrives, at least once, and none of another one. */
export async function expectDelivered(receiver: Receiver, committed: readonly string[]): Promise<void> {
  await eventually(() => {
    const delivered = deliveredOrders(receiver);
    expect(committed.filter((id) => !delivered.has(id))).toEqual([]);
  });
  const delivered = [...deliveredOrders(receiver)];
  expect(delivered.map(([id]) => id).toSorted()).toEqual(committed.toSorted());
  expect(delivered.filter(([, ids]) => ids.size !== 1)).toEqual([]);
}

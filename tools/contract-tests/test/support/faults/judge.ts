import type { AcceptedEvent } from './accepted-log.ts';
import type { ReceivedDelivery } from './delivery-log.ts';

/** The accepted events compared with what the receiver got. Only `repeats` and `explained` may be above 0. */
export interface Verdict {
  /** Pairs of event and subscription. */
  delivered: number;
  /** Accepted, but not delivered to a subscription of the account. */
  lost: number;
  /** Delivered, but not accepted, or not to a subscription of the account. */
  unexpected: number;
  badSignatures: number;
  /** Repeats with another body, webhook-id, sequence or event than the first request. */
  changedRepeats: number;
  /** Sequences that are missing or used twice, over all subscriptions. */
  gaps: number;
  /** Requests that repeat an attempt: the same webhook-id and the same number. */
  repeats: number;
  /** Repeats of requests that were sent and not settled at an interruption, at most one for each interruption. */
  explained: number;
}

/** Identifies one attempt: `<webhook-id> <number>`. */
export const attemptKey = ({ webhookId, attempt }: Pick<ReceivedDelivery, 'webhookId' | 'attempt'>): string =>
  `${webhookId} ${attempt}`;

/**
 * @param subscriptions the account of each subscription
 * @param unsettled for each attempt, at how many interruptions it was sent and not settled
 */
export function judge(
  accepted: readonly AcceptedEvent[],
  deliveries: readonly ReceivedDelivery[],
  subscriptions: ReadonlyMap<string, string>,
  unsettled: ReadonlyMap<string, number>,
): Verdict {
  const expected = new Set(
    [...subscriptions].flatMap(([subscriptionId, accountId]) =>
      accepted.filter((event) => event.accountId === accountId).map((event) => `${subscriptionId} ${event.recordId}`),
    ),
  );
  const first = new Map<string, ReceivedDelivery>();
  const requests = new Map<string, number>();
  let changedRepeats = 0;
  for (const delivery of deliveries) {
    const pair = `${delivery.subscriptionId} ${delivery.recordId}`;
    const known = first.get(pair) ?? delivery;
    first.set(pair, known);
    if (!isSame(known, delivery)) changedRepeats += 1;
    const key = attemptKey(delivery);
    requests.set(key, (requests.get(key) ?? 0) + 1);
  }
  let explained = 0;
  for (const [key, count] of requests) explained += Math.min(count - 1, unsettled.get(key) ?? 0);
  return {
    delivered: first.size,
    lost: [...expected].filter((pair) => !first.has(pair)).length,
    unexpected: [...first.keys()].filter((pair) => !expected.has(pair)).length,
    badSignatures: deliveries.filter(({ isAuthentic }) => !isAuthentic).length,
    changedRepeats,
    gaps: countGaps([...first.values()]),
    repeats: deliveries.length - requests.size,
    explained,
  };
}

function isSame(a: ReceivedDelivery, b: ReceivedDelivery): boolean {
  return a.webhookId === b.webhookId && a.sequence === b.sequence && a.digest === b.digest;
}

function countGaps(deliveries: readonly ReceivedDelivery[]): number {
  const sequences = new Map<string, number[]>();
  for (const { subscriptionId, sequence } of deliveries) {
    const known = sequences.get(subscriptionId);
    if (known === undefined) sequences.set(subscriptionId, [sequence]);
    else known.push(sequence);
  }
  let gaps = 0;
  for (const numbers of sequences.values()) {
    const highest = numbers.reduce((max, number) => Math.max(max, number), 0);
    const distinct = new Set(numbers).size;
    gaps += highest - distinct + (numbers.length - distinct);
  }
  return gaps;
}

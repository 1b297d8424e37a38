import { formatAccountGid, formatGid, timeOf } from '@deedwire/core';
import type { OperatorContext } from '../kernel/context.ts';
import { selectAttempts } from '../webhooks/deliveries/attempts.ts';
import { type Delay, selectDelays } from '../webhooks/deliveries/delay.ts';
import { selectLateSubscriptions, selectUnfannedEvents } from '../webhooks/deliveries/late.ts';
import { toWebhookAttempt, type WebhookAttempt } from './webhook-deliveries.ts';

export interface LateSubscription {
  subscriptionId: string;
  accountId: string;
  /** That is due first. */
  deliveryId: string;
  dueAt: Date;
  /** The alert `DeedwireDeliveriesLate` counts it: neither a pause nor its receiver explains the delay. */
  isUnexplained: boolean;
  /** As `delivery why` gives it. Null: it was sent meanwhile. */
  delay: (Omit<Delay, 'reason'> & { reason: Delay['reason'] | 'ACCOUNT_AWAY' }) | null;
  /** The last failure if the receiver fails, otherwise the last success. Null if none is stored. */
  lastAttempt: WebhookAttempt | null;
}

/** An event that no subscription has got yet, because it waits for its fan-out. */
export interface UnfannedEvent {
  accountId: string;
  eventId: string;
  occurredAt: Date;
  reason: 'ACCOUNT_AWAY' | 'BLOCKED' | 'NO_WORKER' | 'QUEUED';
  /** The type, the version or `REFUSED`. Null unless it is blocked. */
  blockedOn: string | null;
}

export interface LateWork {
  subscriptions: LateSubscription[];
  /** Of each shard the oldest one, and the oldest blocked one. */
  events: UnfannedEvent[];
}

const away = 'The account is frozen, or at home in another cell, which sends its deliveries.';
/** Fan-out takes moments. */
const queuedAfterMs = 10_000;

/** What is late, and why: of all accounts, for an operator. First what neither a pause nor a receiver explains, each by lateness. */
export async function listLateWork(context: OperatorContext, { limit }: { limit: number }): Promise<LateWork> {
  const { store, gidNamespace, now } = context;
  const rows = await selectLateSubscriptions(store, limit);
  const delays = await selectDelays(
    store,
    rows.map(({ deliveryId: id, subscriptionId }) => ({ id, subscriptionId })),
  );
  const attempted = rows.flatMap(({ lastAttemptedId }) => lastAttemptedId ?? []);
  const attempts = await selectAttempts(
    store,
    attempted.map((deliveryId) => ({ deliveryId, before: null, limit: 1 })),
  );
  const lastAttempts = new Map(
    attempts.flatMap(([row]) => (row ? [[row.deliveryId, toWebhookAttempt(row)] as const] : [])),
  );
  const subscriptions = rows.map(
    ({ subscriptionId, accountId, interfaceName, deliveryId, dueAt, isUnexplained, ...row }, index) => ({
      subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', subscriptionId),
      accountId: formatAccountGid(context, interfaceName, accountId),
      deliveryId: formatGid(gidNamespace, 'WebhookDelivery', deliveryId),
      dueAt,
      isUnexplained,
      delay: row.isAway
        ? { reason: 'ACCOUNT_AWAY' as const, since: null, until: null, message: away }
        : (delays[index] ?? null),
      lastAttempt: (row.lastAttemptedId && lastAttempts.get(row.lastAttemptedId)) ?? null,
    }),
  );
  const events = (await selectUnfannedEvents(store))
    .filter(({ eventId }) => now().getTime() - timeOf(eventId).getTime() > queuedAfterMs)
    .slice(0, limit)
    .map(({ accountId, interfaceName, eventId, blockedOn, hasWorker, isAway }): UnfannedEvent => {
      let reason: UnfannedEvent['reason'] = 'QUEUED';
      if (isAway) reason = 'ACCOUNT_AWAY';
      else if (blockedOn !== null) reason = 'BLOCKED';
      else if (!hasWorker) reason = 'NO_WORKER';
      return {
        accountId: formatAccountGid(context, interfaceName, accountId),
        eventId: formatGid(gidNamespace, 'WebhookEvent', eventId),
        occurredAt: timeOf(eventId),
        reason,
        blockedOn,
      };
    });
  return { subscriptions, events };
}

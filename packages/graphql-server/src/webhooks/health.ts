import { type Health, healthStates, type HourStatistics, type LastFailure } from '@deedwire/actions';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookSubscription.health` and `WebhookSubscription.statistics`. */
export function addWebhookHealth(
  builder: InterfaceSchemaBuilder,
  { AttemptError, Subscription }: Pick<WebhookParts, 'AttemptError' | 'Subscription'>,
): void {
  const State = builder.enumType('WebhookSubscriptionHealthState', { values: healthStates });
  const LastFailureType = builder.objectRef<LastFailure>('WebhookLastFailure').implement({
    fields: (t) => ({
      responseStatus: t.exposeInt('responseStatus', { nullable: true }),
      error: t.expose('error', { type: AttemptError, nullable: true }),
      advice: t.exposeString('advice'),
      deliveryId: t.exposeID('deliveryId'),
    }),
  });
  const HealthType = builder.objectRef<Health>('WebhookSubscriptionHealth').implement({
    fields: (t) => ({
      state: t.field({ type: State, resolve: ({ state }) => state }),
      consecutiveFailures: t.exposeInt('consecutiveFailures'),
      failingSince: t.expose('failingSince', { type: 'DateTime', nullable: true }),
      lastFailureAt: t.expose('lastFailureAt', { type: 'DateTime', nullable: true }),
      lastFailure: t.field({
        type: LastFailureType,
        nullable: true,
        resolve: ({ lastFailedDeliveryId: id }, _args, { loaders }) => id && loaders().webhookLastFailures.load(id),
      }),
      lastDeliveredAt: t.expose('lastDeliveredAt', { type: 'DateTime', nullable: true }),
      breakerOpenUntil: t.expose('breakerOpenUntil', { type: 'DateTime', nullable: true }),
      pendingCount: t.exposeInt('pendingCount'),
      pendingCountIsLowerBound: t.exposeBoolean('pendingCountIsLowerBound'),
      oldestPendingAt: t.expose('oldestPendingAt', { type: 'DateTime', nullable: true }),
    }),
  });
  const Hour = builder.objectRef<HourStatistics>('WebhookHourStatistics').implement({
    fields: (t) => ({
      hour: t.expose('hour', { type: 'DateTime' }),
      deliveredCount: t.exposeInt('deliveredCount'),
      failedAttemptCount: t.exposeInt('failedAttemptCount'),
      failedCount: t.exposeInt('failedCount'),
      longestWaitSeconds: t.exposeInt('longestWaitSeconds', { nullable: true }),
    }),
  });

  builder.objectFields(Subscription, (t) => ({
    health: t.field({ type: HealthType, resolve: ({ id }, _args, { loaders }) => loaders().webhookHealth.load(id) }),
    statistics: t.field({
      type: [Hour],
      args: { hours: t.arg.int({ defaultValue: 24 }) },
      resolve: ({ id }, { hours }, { loaders }) => loaders().webhookStatistics.load({ subscriptionId: id, hours }),
    }),
  }));
}

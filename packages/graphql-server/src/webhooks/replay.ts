import {
  cancelWebhookReplay,
  findWebhookReplay,
  idempotencyErrorCodes,
  listWebhookReplays,
  replayWebhookEvents,
  type WebhookReplay,
  type WebhookReplayEstimate,
} from '@deedwire/actions';
import { toMilliPoints } from '@deedwire/operation-analysis';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookReplay`, `Query.webhookReplay`, `Query.webhookReplays` and the mutations of replays. */
export function addWebhookReplay(
  builder: InterfaceSchemaBuilder,
  { connectionOf, DelayReason, checkId }: WebhookParts,
): void {
  const Status = builder.enumType('WebhookReplayStatus', {
    values: ['RUNNING', 'COMPLETED', 'CANCELLED', 'SUBSCRIPTION_DELETED'] as const,
  });
  const Replay = builder.objectRef<WebhookReplay>('WebhookReplay').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      subscriptionId: t.exposeID('subscriptionId'),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true }),
      queuedCount: t.exposeInt('queuedCount'),
      skippedCount: t.exposeInt('skippedCount'),
      skippedPendingCount: t.exposeInt('skippedPendingCount', { nullable: true }),
      position: t.exposeFloat('position'),
      waitsFor: t.expose('waitsFor', { type: DelayReason, nullable: true }),
    }),
  });
  const ReplayConnection = connectionOf('WebhookReplay', Replay);

  builder.queryFields((t) => ({
    webhookReplay: t.field({
      type: Replay,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve(_, { id }, context) {
        checkId(context, 'WebhookReplay', 'id', id);
        return findWebhookReplay(context.actions, context.caller, id);
      },
    }),
    webhookReplays: t.field({
      type: ReplayConnection,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string(), subscriptionId: t.arg.id() },
      resolve(_, page, context) {
        const { subscriptionId = null } = page;
        if (subscriptionId !== null) checkId(context, 'WebhookSubscription', 'subscriptionId', subscriptionId);
        return listWebhookReplays(context.actions, context.caller, page);
      },
    }),
  }));

  const TypeCount = builder
    .objectRef<WebhookReplayEstimate['byType'][number]>('WebhookReplayTypeCount')
    .implement({ fields: (t) => ({ type: t.exposeString('type'), count: t.exposeInt('count') }) });
  const Estimate = builder.objectRef<WebhookReplayEstimate>('WebhookReplayEstimate').implement({
    fields: (t) => ({
      count: t.exposeInt('count'),
      isLowerBound: t.exposeBoolean('isLowerBound'),
      byType: t.field({ type: [TypeCount], resolve: ({ byType }) => byType }),
      seconds: t.exposeInt('seconds'),
    }),
  });
  addMutation(builder, 'replayWebhookEvents', {
    input: (t) => ({
      subscriptionId: t.id({ required: true }),
      since: t.field({ type: 'DateTime' }),
      until: t.field({ type: 'DateTime' }),
      fromSequence: t.field({ type: 'Long' }),
      toSequence: t.field({ type: 'Long' }),
      eventTypes: t.stringList(),
      onlyFailed: t.boolean({ defaultValue: true }),
      maxPerSecond: t.int({ defaultValue: 50 }),
      dryRun: t.boolean({ defaultValue: false }),
      idempotencyKey: t.string(),
    }),
    codes: ['EVENT_TYPE_UNKNOWN', ...idempotencyErrorCodes, 'NOT_FOUND', 'RANGE_INVALID', 'REPLAY_IN_PROGRESS'],
    id: { checkId, name: 'subscriptionId', typeName: 'WebhookSubscription' },
    resolve(input, { actions, caller, extraWork }) {
      const onSearched = (deliveries: number): void => {
        extraWork.cost += deliveries * costOfCountedDelivery;
      };
      return replayWebhookEvents(actions, caller, input, onSearched);
    },
    payload: (t) => ({
      webhookReplay: t.expose('webhookReplay', { type: Replay, nullable: true }),
      estimate: t.expose('estimate', { type: Estimate, nullable: true }),
    }),
  });

  addMutation(builder, 'cancelWebhookReplay', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['NOT_FOUND'],
    id: { checkId, name: 'id', typeName: 'WebhookReplay' },
    resolve: (input, { actions, caller }) => cancelWebhookReplay(actions, caller, input),
    payload: (t) => ({ webhookReplay: t.expose('webhookReplay', { type: Replay, nullable: true }) }),
  });
}

// Counting 100,000 deliveries takes PostgreSQL up to 215 ms, and the API nothing.
const costOfCountedDelivery = toMilliPoints(0.005);

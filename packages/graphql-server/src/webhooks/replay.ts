import {
  cancelWebhookReplay,
  type CancelWebhookReplayResult,
  findWebhookReplay,
  listWebhookReplays,
  replayWebhookEvents,
  type ReplayWebhookEventsResult,
  type WebhookReplay,
  type WebhookReplayEstimate,
} from '@deedwire/actions';
import { toMilliPoints } from '../cost/operation-costs.ts';
import { addUserError } from '../schema/add-user-error.ts';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import type { CheckId } from '../schema/check-id.ts';
import type { ConnectionOf } from '../schema/connection.ts';
import { markReplay } from '../schema/mark-replay.ts';
import type { WebhookDelayReasonRef } from './delay.ts';

/** Adds `WebhookReplay`, `Query.webhookReplay`, `Query.webhookReplays` and the mutations of replays. */
export function addWebhookReplay(
  builder: InterfaceSchemaBuilder,
  {
    connectionOf,
    DelayReason,
    checkId,
  }: { connectionOf: ConnectionOf; DelayReason: WebhookDelayReasonRef; checkId: CheckId },
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
  addReplayWebhookEvents(builder, Replay, checkId);
  addCancelWebhookReplay(builder, Replay, checkId);
}

// Counting 100,000 deliveries takes PostgreSQL up to 215 ms, and the API nothing.
const costOfCountedDelivery = toMilliPoints(0.005);

function addReplayWebhookEvents(
  builder: InterfaceSchemaBuilder,
  Replay: ObjectTypeRef<WebhookReplay>,
  checkId: CheckId,
): void {
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
  const Input = builder.inputType('ReplayWebhookEventsInput', {
    fields: (t) => ({
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
  });
  const UserError = addUserError(builder, 'ReplayWebhookEvents', [
    'EVENT_TYPE_UNKNOWN',
    'IDEMPOTENCY_IN_PROGRESS',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'NOT_FOUND',
    'RANGE_INVALID',
    'REPLAY_IN_PROGRESS',
  ]);
  const Payload = builder.objectRef<ReplayWebhookEventsResult>('ReplayWebhookEventsPayload').implement({
    fields: (t) => ({
      webhookReplay: t.expose('webhookReplay', { type: Replay, nullable: true }),
      estimate: t.expose('estimate', { type: Estimate, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('replayWebhookEvents', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve: async (_, { input }, context) => {
        checkId(context, 'WebhookSubscription', 'input.subscriptionId', input.subscriptionId);
        const onSearched = (deliveries: number): void => {
          context.extraWork.cost += deliveries * costOfCountedDelivery;
        };
        return markReplay(context, await replayWebhookEvents(context.actions, context.caller, input, onSearched));
      },
    }),
  );
}

function addCancelWebhookReplay(
  builder: InterfaceSchemaBuilder,
  Replay: ObjectTypeRef<WebhookReplay>,
  checkId: CheckId,
): void {
  const Input = builder.inputType('CancelWebhookReplayInput', { fields: (t) => ({ id: t.id({ required: true }) }) });
  const UserError = addUserError(builder, 'CancelWebhookReplay', ['NOT_FOUND']);
  const Payload = builder.objectRef<CancelWebhookReplayResult>('CancelWebhookReplayPayload').implement({
    fields: (t) => ({
      webhookReplay: t.expose('webhookReplay', { type: Replay, nullable: true }),
      userErrors: t.field({ type: [UserError], resolve: ({ userErrors }) => userErrors }),
    }),
  });

  builder.mutationField('cancelWebhookReplay', (t) =>
    t.field({
      type: Payload,
      args: { input: t.arg({ type: Input, required: true }) },
      resolve(_, { input }, context) {
        checkId(context, 'WebhookReplay', 'input.id', input.id);
        return cancelWebhookReplay(context.actions, context.caller, input);
      },
    }),
  );
}

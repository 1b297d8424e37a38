import {
  findWebhookDelivery,
  listWebhookDeliveries,
  retryWebhookDelivery,
  type WebhookDelivery,
  type Delay,
} from '@deedwire/actions';
import { interfaceOf } from '@deedwire/core';
import { toMilliPoints } from '@deedwire/operation-analysis';
import { RequestError } from '../errors/request-error.ts';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import { chargeFurtherPart } from '../schema/operation-context.ts';
import { addWebhookAttempt } from './attempt.ts';
import { eventIdDeprecation, type WebhookParts } from './webhook-parts.ts';

/**
 * Adds `WebhookDelivery`, `Query.webhookDelivery`, `Query.webhookDeliveries`, `WebhookSubscription.deliveries` and
 * `Mutation.retryWebhookDelivery`.
 */
export function addWebhookDelivery(
  builder: InterfaceSchemaBuilder,
  {
    AttemptError,
    connectionOf,
    Subscription,
    DelayReason,
    PayloadDeletion,
    checkId,
    sequenceType,
    eventsHaveId,
  }: WebhookParts,
): void {
  const Attempt = addWebhookAttempt(builder, { AttemptError });
  const DelayType = addWebhookDelay(builder, DelayReason);
  const Status = builder.enumType('WebhookDeliveryStatus', {
    values: ['PENDING', 'DELIVERED', 'FAILED', 'EXPIRED'] as const,
  });

  const Event = builder.objectRef<WebhookDelivery['event']>('WebhookDeliveryEvent').implement({
    fields: (t) => ({
      eventId: t.exposeID('id'),
      type: t.exposeString('type'),
      version: t.exposeString('version'),
      timestamp: t.expose('timestamp', { type: 'DateTime' }),
    }),
  });

  if (eventsHaveId)
    builder.objectField(Event, 'id', (t) => t.exposeID('id', { deprecationReason: eventIdDeprecation }));

  const Delivery = builder.objectRef<WebhookDelivery>('WebhookDelivery').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      subscriptionId: t.exposeID('subscriptionId'),
      subscription: t.field({
        type: Subscription,
        nullable: true,
        resolve: ({ subscriptionId }, _args, { loaders }) => loaders().webhookSubscriptions.load(subscriptionId),
      }),
      sequenceNumber: t.expose('sequence', { type: 'Long' }),
      sequence:
        sequenceType === 'Long'
          ? t.expose('sequence', { type: 'Long', deprecationReason })
          : t.int({ deprecationReason, resolve: ({ sequence }) => checkInt(sequence) }),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      event: t.field({ type: Event, resolve: ({ event }) => event }),
      isTest: t.exposeBoolean('isTest'),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      nextAttemptAt: t.expose('nextAttemptAt', { type: 'DateTime', nullable: true }),
      payload: t.string({
        nullable: true,
        resolve: (delivery, _args, { loaders }) => loaders().webhookPayloads.load(delivery),
      }),
      payloadDeletion: t.expose('payloadDeletion', { type: PayloadDeletion, nullable: true }),
      preview: t.string({
        nullable: true,
        args: { version: t.arg.string({ required: true }) },
        resolve: (delivery, { version }, { loaders }) => loaders().webhookPreviews.load({ delivery, version }),
      }),
      delay: t.field({
        type: DelayType,
        nullable: true,
        resolve: (delivery, _args, { loaders }) => loaders().webhookDelays.load(delivery),
      }),
      attemptCount: t.int({
        resolve: (delivery, _args, { loaders }) => loaders().webhookAttemptCounts.load(delivery),
      }),
      attempts: t.field({
        type: [Attempt],
        args: { first: t.arg.int({ defaultValue: 20 }), before: t.arg.int() },
        resolve: (delivery, page, { loaders }) => loaders().webhookAttempts.load({ ...page, delivery }),
      }),
    }),
  });
  const DeliveryConnection = connectionOf('WebhookDelivery', Delivery);

  builder.objectField(Subscription, 'deliveries', (t) =>
    t.field({
      type: DeliveryConnection,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string(), status: t.arg({ type: Status }) },
      resolve: ({ id }, page, { loaders }) => loaders().deliveriesOfSubscriptions.load({ ...page, subscriptionId: id }),
    }),
  );
  builder.queryFields((t) => ({
    webhookDelivery: t.field({
      type: Delivery,
      nullable: true,
      args: { id: t.arg.id({ required: true }) },
      resolve(_, { id }, context) {
        checkId(context, 'WebhookDelivery', 'id', id);
        return findWebhookDelivery(context.actions, context.caller, id);
      },
    }),
    webhookDeliveries: t.field({
      type: DeliveryConnection,
      args: {
        first: t.arg.int({ defaultValue: 20 }),
        after: t.arg.string(),
        subscriptionId: t.arg.id(),
        status: t.arg({ type: Status }),
        eventType: t.arg.string(),
        recordId: t.arg.id(),
        eventId: t.arg.id(),
        since: t.arg({ type: 'DateTime' }),
        until: t.arg({ type: 'DateTime' }),
      },
      resolve(_, page, context) {
        const { subscriptionId = null, recordId = null, eventId = null } = page;
        if (subscriptionId !== null) checkId(context, 'WebhookSubscription', 'subscriptionId', subscriptionId);
        if (recordId !== null) {
          const { records } = interfaceOf(context.actions.service, context.caller.interfaceName);
          checkId(context, records, 'recordId', recordId);
        }
        if (eventId !== null) checkId(context, 'WebhookEvent', 'eventId', eventId);
        const onSearched = (deliveries: number): void => {
          context.extraWork.cost += deliveries * costOfSearchedDelivery;
        };
        const onFurtherPart = (): void => chargeFurtherPart(context.extraWork);
        return listWebhookDeliveries(context.actions, context.caller, { ...page, onSearched, onFurtherPart });
      },
    }),
  }));

  addMutation(builder, 'retryWebhookDelivery', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['DELIVERY_EXPIRED', 'NOT_FOUND', 'PAYLOAD_UNAVAILABLE', 'RETRY_RATE_LIMITED'],
    id: { checkId, name: 'id', typeName: 'WebhookDelivery' },
    resolve: (input, { actions, caller }) => retryWebhookDelivery(actions, caller, input),
    payload: (t) => ({ webhookDelivery: t.expose('webhookDelivery', { type: Delivery, nullable: true }) }),
  });
}

/** A page that no index serves reads up to 5,000 deliveries, whatever it contains. */
const costOfSearchedDelivery = toMilliPoints(0.05);

const deprecationReason =
  'Use `sequenceNumber`, the same number. Where this field is an `Int`, operations that select it fail with SEQUENCE_TOO_LARGE above 2147483647.';
const largestInt = 2_147_483_647;

function checkInt(sequence: number): number {
  if (sequence <= largestInt) return sequence;
  throw new RequestError('SEQUENCE_TOO_LARGE', {
    message: `The sequence of this delivery is ${sequence}, and \`sequence\` is at most ${largestInt}. Select \`sequenceNumber\` instead.`,
  });
}

/** Adds `WebhookDelay`. */
function addWebhookDelay(builder: InterfaceSchemaBuilder, Reason: WebhookParts['DelayReason']): ObjectTypeRef<Delay> {
  return builder.objectRef<Delay>('WebhookDelay').implement({
    fields: (t) => ({
      reason: t.expose('reason', { type: Reason }),
      since: t.expose('since', { type: 'DateTime', nullable: true }),
      until: t.expose('until', { type: 'DateTime', nullable: true }),
      message: t.exposeString('message'),
    }),
  });
}

import {
  CursorExpiredError,
  listWebhookEvents,
  listWebhookEventTypes,
  type SubscribableEventType,
  type WebhookEvent,
  type WebhookEventPage,
} from '@deedwire/actions';
import { toMilliPoints } from '@deedwire/operation-analysis';
import { RequestError } from '../errors/request-error.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { OperationContext } from '../schema/operation-context.ts';
import { selectsField } from '../schema/selects-field.ts';
import { eventIdDeprecation, type WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookEventType`, `Query.webhookEventTypes` and `Query.webhookEgressAddresses`. */
export function addWebhookEventType(builder: InterfaceSchemaBuilder): void {
  const Status = builder.enumType('WebhookEventVersionStatus', {
    values: ['PREVIEW', 'CURRENT', 'DEPRECATED'] as const,
  });

  const Version = builder.objectRef<SubscribableEventType['versions'][number]>('WebhookEventTypeVersion').implement({
    fields: (t) => ({
      version: t.exposeString('version'),
      status: t.field({ type: Status, resolve: ({ status }) => status }),
      sunsetOn: t.expose('sunsetOn', { type: 'Date', nullable: true }),
    }),
  });

  const EventType = builder.objectRef<SubscribableEventType>('WebhookEventType').implement({
    fields: (t) => ({
      type: t.exposeString('type'),
      description: t.exposeString('description'),
      versions: t.field({ type: [Version], resolve: ({ versions }) => versions }),
    }),
  });

  builder.queryFields((t) => ({
    webhookEventTypes: t.field({
      type: [EventType],
      resolve: (_, _args, { actions, caller }) => listWebhookEventTypes(actions, caller),
    }),
    webhookEgressAddresses: t.stringList({
      resolve: (_, _args, { actions }) => [...actions.webhookEgressAddresses],
    }),
  }));
}

/** Adds `WebhookEvent` and `Query.webhookEvents`. */
export function addWebhookEvents(
  builder: InterfaceSchemaBuilder,
  { connectionOf, checkId, PayloadDeletion, eventsHaveId }: WebhookParts,
): void {
  const Event = builder.objectRef<WebhookEvent>('WebhookEvent').implement({
    fields: (t) => ({
      eventId: t.exposeID('id'),
      deliveryId: t.exposeID('deliveryId'),
      type: t.exposeString('type'),
      version: t.exposeString('version'),
      timestamp: t.expose('timestamp', { type: 'DateTime' }),
      isTest: t.exposeBoolean('isTest'),
      payload: t.exposeString('payload', { nullable: true }),
      payloadDeletion: t.expose('payloadDeletion', { type: PayloadDeletion, nullable: true }),
    }),
  });
  if (eventsHaveId)
    builder.objectField(Event, 'id', (t) => t.exposeID('id', { deprecationReason: eventIdDeprecation }));
  const EventConnection = connectionOf<WebhookEvent, WebhookEventPage>('WebhookEvent', Event, (Edge, Connection) => {
    builder.objectField(Edge, 'sequence', (t) => t.field({ type: 'Long', resolve: ({ node }) => node.sequence }));
    builder.objectFields(Connection, (t) => ({
      lastSequence: t.expose('lastSequence', { type: 'Long' }),
      firstKeptSequence: t.field({
        type: 'Long',
        nullable: true,
        resolve: ({ firstKeptSequence }) => firstKeptSequence(),
      }),
      numberedUntil: t.expose('numberedUntil', { type: 'DateTime' }),
    }));
  });

  builder.queryField('webhookEvents', (t) =>
    t.field({
      type: EventConnection,
      nullable: true,
      args: {
        subscriptionId: t.arg.id({ required: true }),
        first: t.arg.int({ defaultValue: 20 }),
        after: t.arg.string(),
        since: t.arg({ type: 'DateTime' }),
        waitSeconds: t.arg.int({ defaultValue: 0 }),
      },
      async resolve(_, request, context, info) {
        checkId(context, ['WebhookSubscription', 'WebhookListener'], 'subscriptionId', request.subscriptionId);
        try {
          return await listWebhookEvents(context.actions, context.caller, request, {
            readsPayloads: selectsField(info, 'payload'),
            readsNumberedUntil: selectsField(info, 'numberedUntil'),
            pauseFor: (wait) => pauseFor(context, wait),
            onWideRead: () => (context.extraWork.cost += costOfWideRead),
          });
        } catch (error) {
          if (!(error instanceof CursorExpiredError)) throw error;
          const { message, firstKeptSequence } = error;
          throw new RequestError('CURSOR_EXPIRED', { message, extensions: { firstKeptSequence } });
        }
      },
    }),
  );
}

/** Reads the deliveries of days, up to 1 s of PostgreSQL. Only a cursor that is not ours, or a missing event, leads to it. */
const costOfWideRead = toMilliPoints(500);

/** The wait ends with the connection of the client. If another field waits, it ends at once. */
async function pauseFor(
  { pauses, whenClosed }: OperationContext,
  wait: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!pauses.canWait) return;
  const forget = whenClosed(() => pauses.release());
  try {
    await pauses.during(wait);
  } finally {
    forget();
  }
}

import { eventOf, formatGid, type InterfaceName, type Service } from '@deedwire/core';
import { insertTestEvent } from '@deedwire/webhooks/outbox';
import type { EventTypePin } from '@deedwire/webhooks/tables';
import { z } from 'zod';
import { originOfCause } from '../kernel/append-event.ts';
import { appendAuditEntry } from '../kernel/audit.ts';
import { type ActionContext, type Caller, isCaller, type Operator } from '../kernel/context.ts';
import { inputError, type MutationResult, type UserError, type IdempotencyErrorCode } from '../kernel/errors.ts';
import { resultOf, type SaveResult, withIdempotencyKey } from '../kernel/idempotency.ts';
import {
  findSubscription,
  parseSubscriptionRef,
  selectSubscribedTypes,
  type SubscriptionRef,
} from '../subscriptions/subscription-ref.ts';
import { describeUnknownType, pinnableEventVersions } from '../subscriptions/webhook-event-types.ts';
import {
  countInMinute,
  deleteOldLimitCounts,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';

type InputErrorCode = 'EVENT_TYPE_UNKNOWN' | 'NOT_FOUND' | 'NOT_SUBSCRIBED';

export type SendTestWebhookEventErrorCode = IdempotencyErrorCode | InputErrorCode | 'TEST_RATE_LIMITED';

/** `SendTestWebhookEventInput`. A field that is null or undefined is not set. */
export interface SendTestWebhookEventInput {
  subscriptionId: string;
  /** Defaults to `webhook.test`. */
  eventType?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export type SendTestWebhookEventResult = MutationResult<SavedEvent, SendTestWebhookEventErrorCode>;

const testEventsPerMinute = 60;
const defaultEventType = 'webhook.test';

/** How a saved result keeps the event. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
const savedEvent = z.object({ webhookEventId: z.string() });
type SavedEvent = z.infer<typeof savedEvent>;

/**
 * Sends an event with sample data to a subscription or listener, at the version that it pins. An operator has no limit.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names neither
 */
export async function sendTestWebhookEvent(
  context: ActionContext,
  by: Caller | Operator,
  { subscriptionId: gid, eventType, idempotencyKey }: SendTestWebhookEventInput,
): Promise<SendTestWebhookEventResult> {
  const { owner, subscriptionId } = isCaller(by)
    ? { owner: by, subscriptionId: gid }
    : await findSubscription(context, gid);
  const input = { subscriptionId, eventType: eventType ?? defaultEventType };
  const request = { mutation: 'sendTestWebhookEvent', key: idempotencyKey, input, codec: savedEvent };
  const sent = await withIdempotencyKey(context, by, request, (saveResult) =>
    send(context, owner, by, input, saveResult),
  );
  return resultOf(sent, {
    repeat: (saved) => ({ ...saved.payload, userErrors: [] }),
    reject,
    findInputErrors: () => findInputErrors(context, owner, input),
  });
}

interface TestInput {
  subscriptionId: string;
  eventType: string;
}

/** The errors outside of a transaction that sends the event. */
async function findInputErrors(
  { service, gidNamespace, store, now }: ActionContext,
  { accountId, interfaceName }: SubscriptionOwner,
  { subscriptionId, eventType }: TestInput,
): Promise<UserError<InputErrorCode>[]> {
  const ref = parseSubscriptionRef(gidNamespace, subscriptionId);
  const eventTypes = ref && (await selectSubscribedTypes(store, accountId, ref));
  return ref === null || eventTypes === null
    ? [notFound]
    : checkEventType(service, interfaceName, ref, eventTypes, eventType, now());
}

async function send(
  { service, gidNamespace, store, now }: ActionContext,
  { accountId, interfaceName }: SubscriptionOwner,
  by: Caller | Operator,
  { subscriptionId, eventType }: TestInput,
  saveResult: SaveResult<SavedEvent>,
): Promise<SendTestWebhookEventResult> {
  const ref = parseSubscriptionRef(gidNamespace, subscriptionId);
  if (ref === null) return reject([notFound]);
  return store.transaction(async (transaction) => {
    const eventTypes = await selectSubscribedTypes(transaction, accountId, ref);
    if (eventTypes === null) return reject([notFound]);
    const userErrors = checkEventType(service, interfaceName, ref, eventTypes, eventType, now());
    if (userErrors.length > 0) return reject(userErrors);
    if (isCaller(by)) {
      const count = await countInMinute(transaction, 'test_events', { accountId, interfaceName });
      if (count === 1) await deleteOldLimitCounts(transaction, accountId);
      if (count > testEventsPerMinute) return reject([rateLimited(count)]);
    }
    const snapshot = sampleOf(service, gidNamespace, eventType);
    const origin = originOfCause(isCaller(by) ? by : undefined);
    const eventId = await insertTestEvent(
      transaction,
      { accountId, interfaceName, type: eventType, snapshot, ...origin },
      ref.subscriptionId,
    );
    const webhookEventId = formatGid(gidNamespace, 'WebhookEvent', eventId);
    await appendAuditEntry(transaction, by, {
      action: ref.isListener ? 'webhook_listener.test' : 'webhook_subscription.test',
      subject: subscriptionId,
      account: { id: accountId, interfaceName },
      details: { eventType },
    });
    await saveResult(transaction, { payload: { webhookEventId }, secretCiphertext: null, recordId: null });
    return { webhookEventId, userErrors: [] };
  });
}

const notFound = inputError('NOT_FOUND', 'subscriptionId', 'You have no subscription with this identifier.');

function checkEventType(
  service: Service,
  interfaceName: InterfaceName,
  { isListener }: SubscriptionRef,
  eventTypes: readonly EventTypePin[],
  type: string,
  now: Date,
): UserError<InputErrorCode>[] {
  const known = eventOf(service, type);
  if (known === undefined || !known.interfaces.includes(interfaceName))
    return [inputError('EVENT_TYPE_UNKNOWN', 'eventType', describeUnknownType(service, interfaceName, type))];
  const noun = isListener ? 'listener' : 'subscription';
  const pin = eventTypes.find((subscribed) => subscribed.type === type);
  if (pin === undefined) {
    const subscribed = eventTypes.map((eventType) => eventType.type).join(', ');
    const otherwise = isListener ? `create a listener for ${type}` : `add ${type} with updateWebhookSubscription`;
    const message = `The ${noun} does not receive ${type}. It receives ${subscribed}. Name one of these types, or ${otherwise}.`;
    return [inputError('NOT_SUBSCRIBED', 'eventType', message)];
  }
  // The worker pauses the subscription, and it gets no events of this type.
  if (!pinnableEventVersions(service, type, now).includes(pin.version)) {
    const otherwise = isListener
      ? 'Create a listener for another version.'
      : 'Pin another version with updateWebhookSubscription.';
    const message = `The ${noun} pins ${type} at ${pin.version}, which is retired. ${otherwise}`;
    return [inputError('NOT_SUBSCRIBED', 'eventType', message)];
  }
  return [];
}

function rateLimited(count: number): UserError<'TEST_RATE_LIMITED'> {
  const message = `This is test event ${count} of the account in this minute; at most ${testEventsPerMinute} are allowed. Try again in the next minute.`;
  return { code: 'TEST_RATE_LIMITED', message, field: null };
}

function sampleOf(service: Service, gidNamespace: string, eventType: string): object {
  const event = eventOf(service, eventType);
  if (event === undefined) throw new Error(`${eventType} has no sample.`);
  return event.sample(gidNamespace);
}

function reject(userErrors: UserError<SendTestWebhookEventErrorCode>[]): SendTestWebhookEventResult {
  return { webhookEventId: null, userErrors };
}

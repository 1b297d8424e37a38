import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  eventTypesErrorCodes,
  idempotencyErrorCodes,
  pauseWebhookSubscription,
  requestHeaderErrorCodes,
  resumeWebhookSubscription,
  rotateWebhookSecret,
  sendPendingWebhookDeliveries,
  sendTestWebhookEvent,
  updateWebhookSubscription,
  verificationErrorCodes,
} from '@deedwire/actions';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds the mutations of subscriptions. */
export function addWebhookSubscriptionMutations(
  builder: InterfaceSchemaBuilder,
  { Subscription, EventTypeInput, RequestHeaderInput, checkId }: WebhookParts,
): void {
  addMutation(builder, 'createWebhookSubscription', {
    input: (t) => ({
      callbackUrl: t.string({ required: true }),
      eventTypes: t.field({ type: [EventTypeInput], required: true }),
      webhookSecret: t.string(),
      name: t.string(),
      timeoutSeconds: t.int(),
      requestHeader: t.field({ type: RequestHeaderInput }),
      idempotencyKey: t.string(),
    }),
    codes: [
      ...verificationErrorCodes,
      ...eventTypesErrorCodes,
      ...idempotencyErrorCodes,
      ...requestHeaderErrorCodes,
      'LIMIT_REACHED',
      'NAME_INVALID',
      'TIMEOUT_INVALID',
      'WEBHOOK_SECRET_INVALID',
    ],
    resolve: (input, { actions, caller }) => createWebhookSubscription(actions, caller, input),
    payload: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      webhookSecret: t.exposeString('webhookSecret', { nullable: true }),
    }),
  });

  addMutation(builder, 'updateWebhookSubscription', {
    input: (t) => ({
      id: t.id({ required: true }),
      callbackUrl: t.string(),
      eventTypes: t.field({ type: [EventTypeInput] }),
      name: t.string(),
      timeoutSeconds: t.int(),
      requestHeader: t.field({ type: RequestHeaderInput }),
    }),
    codes: [
      ...verificationErrorCodes,
      ...eventTypesErrorCodes,
      ...requestHeaderErrorCodes,
      'LIMIT_REACHED',
      'NAME_INVALID',
      'NOT_FOUND',
      'TIMEOUT_INVALID',
    ],
    id: { checkId, name: 'id', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => updateWebhookSubscription(actions, caller, input),
    payload: (t) => ({ webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }) }),
  });

  addMutation(builder, 'pauseWebhookSubscription', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['NOT_FOUND'],
    id: { checkId, name: 'id', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => pauseWebhookSubscription(actions, caller, input),
    payload: (t) => ({ webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }) }),
  });

  addMutation(builder, 'resumeWebhookSubscription', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: [...verificationErrorCodes, 'NOT_FOUND', 'VERSION_RETIRED'],
    id: { checkId, name: 'id', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => resumeWebhookSubscription(actions, caller, input),
    payload: (t) => ({ webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }) }),
  });

  addMutation(builder, 'rotateWebhookSecret', {
    input: (t) => ({
      id: t.id({ required: true }),
      webhookSecret: t.string(),
      overlapSeconds: t.int({ defaultValue: 86_400 }),
      idempotencyKey: t.string(),
    }),
    codes: [...idempotencyErrorCodes, 'NOT_FOUND', 'OVERLAP_INVALID', 'ROTATION_IN_PROGRESS', 'WEBHOOK_SECRET_INVALID'],
    id: { checkId, name: 'id', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => rotateWebhookSecret(actions, caller, input),
    payload: (t) => ({
      webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }),
      webhookSecret: t.exposeString('webhookSecret', { nullable: true }),
    }),
  });

  addMutation(builder, 'sendTestWebhookEvent', {
    input: (t) => ({
      subscriptionId: t.id({ required: true }),
      eventType: t.string({ defaultValue: 'webhook.test' }),
      idempotencyKey: t.string(),
    }),
    codes: ['EVENT_TYPE_UNKNOWN', ...idempotencyErrorCodes, 'NOT_FOUND', 'NOT_SUBSCRIBED', 'TEST_RATE_LIMITED'],
    id: { checkId, name: 'subscriptionId', typeName: ['WebhookSubscription', 'WebhookListener'] },
    resolve: (input, { actions, caller }) => sendTestWebhookEvent(actions, caller, input),
    payload: (t) => ({ webhookEventId: t.exposeID('webhookEventId', { nullable: true }) }),
  });

  addMutation(builder, 'sendPendingWebhookDeliveries', {
    input: (t) => ({ subscriptionId: t.id({ required: true }) }),
    codes: ['NOT_FOUND', 'RATE_LIMITED'],
    id: { checkId, name: 'subscriptionId', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => sendPendingWebhookDeliveries(actions, caller, input),
    payload: (t) => ({ webhookSubscription: t.expose('webhookSubscription', { type: Subscription, nullable: true }) }),
  });

  addMutation(builder, 'deleteWebhookSubscription', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['NOT_FOUND'],
    id: { checkId, name: 'id', typeName: 'WebhookSubscription' },
    resolve: (input, { actions, caller }) => deleteWebhookSubscription(actions, caller, input),
    payload: (t) => ({
      deletedWebhookSubscriptionId: t.exposeID('deletedWebhookSubscriptionId', { nullable: true }),
    }),
  });
}

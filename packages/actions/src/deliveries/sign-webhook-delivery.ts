import { deliveryHeaders, parseGid } from '@deedwire/core';
import type { SecretKeyRing } from '@deedwire/store';
import { signWebhook } from '@deedwire/webhook-signing';
import type { ActionContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { signingSecrets } from '../subscriptions/webhook-subscriptions.ts';
import { selectSubscription } from '../webhooks/subscriptions/subscriptions.ts';
import { readWebhookDelivery, readWebhookPayloads, type WebhookDelivery } from './webhook-deliveries.ts';

/** The request of a delivery, signed with the present secrets of its subscription. Contains no secret. */
export interface SignedRequest {
  /** The present callback URL. */
  url: string;
  /** In the order in which they are sent. */
  headers: [name: string, value: string][];
  /** As every attempt sends it. */
  body: string;
  signedAt: Date;
  /** Receivers reject the request after this time. */
  acceptedUntil: Date;
}

const toleranceMs = 300_000;

/**
 * Signs the request of a delivery again, so that an operator can send it. Changes nothing.
 *
 * The headers are those of a retry, without those about a deprecated version.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist, `CONFLICT` if its payload could not be rendered or is deleted
 */
export async function signWebhookDelivery(
  context: ActionContext & { secretKeys: SecretKeyRing },
  input: { deliveryId: string },
): Promise<SignedRequest> {
  const delivery = await readWebhookDelivery(context, input);
  const subscriptionId = parseGid(context.gidNamespace, 'WebhookSubscription', delivery.subscriptionId);
  const subscription = subscriptionId === null ? null : await selectSubscription(context.store, null, subscriptionId);
  if (subscription === null) throw new RefusedError('NOT_FOUND', `The delivery ${input.deliveryId} does not exist.`);
  const body = await readPayloadOfDelivery(context, delivery);
  const timestamp = Math.floor(context.now().getTime() / 1_000);
  const secrets = signingSecrets(context.secretKeys, subscription);
  const {
    names: { headerPrefix: prefix },
  } = context.service;
  const signature = signWebhook({ id: delivery.id, timestamp, body, prefix, ...secrets });
  const names = deliveryHeaders(context.service);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `${context.service.names.userAgent}/0 (curl)`,
    [names.subscriptionId]: delivery.subscriptionId,
    [names.event]: delivery.event.type,
    [names.eventVersion]: delivery.event.version,
    [names.attempt]: String(delivery.attempts[0]?.number ?? 1),
    [names.sequence]: String(delivery.sequence),
    [names.replay]: 'true',
    ...(delivery.isTest && { [names.test]: 'true' }),
    ...signature,
  };
  return {
    url: subscription.callbackUrl,
    headers: Object.entries(headers),
    body,
    signedAt: new Date(timestamp * 1_000),
    acceptedUntil: new Date(timestamp * 1_000 + toleranceMs),
  };
}

/**
 * The body of a delivery of any account, as every attempt sends it.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist, `CONFLICT` if its payload could not be rendered or is deleted
 */
export async function readSentBody(context: ActionContext, input: { deliveryId: string }): Promise<string> {
  return readPayloadOfDelivery(context, await readWebhookDelivery(context, input));
}

async function readPayloadOfDelivery(context: ActionContext, delivery: WebhookDelivery): Promise<string> {
  const [body = null] = await readWebhookPayloads(context, [delivery]);
  if (body !== null) return body;
  throw new RefusedError(
    'CONFLICT',
    `The delivery ${delivery.id} has no payload: it could not be rendered, its retention period has ended, or a person was erased.`,
  );
}

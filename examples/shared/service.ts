import type { WebhookEvent } from '@deedwire/webhook-events';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { SubscribeDocument } from './generated/partner.ts';
import { send, type Interface } from './interface.ts';
import { pins } from './pins.ts';
import { startReceiver } from './receiver.ts';

/** Both interfaces, as JSON on the command line. */
const service: { lender: Interface; partner: Interface } = JSON.parse(process.argv[2] ?? '');

export function readTeam<Data, Variables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  return send(service.lender, pins.lender, document, variables);
}

/** Subscribes to conversions at the pinned version, prints `known` and the event types, and waits for the first event. */
export async function listen(known: object): Promise<WebhookEvent> {
  // The secret must be known before the handshake, because the service signs the handshake with it.
  const webhookSecret = generateWebhookSecret();
  const receiver = await startReceiver(webhookSecret);
  const { createWebhookSubscription } = await send(service.partner, pins.partner, SubscribeDocument, {
    input: {
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'referral.converted', version: pins.referralConverted }],
      webhookSecret,
    },
  });
  const { webhookSubscription, userErrors } = createWebhookSubscription;
  if (webhookSubscription === null) throw new Error(JSON.stringify(userErrors));
  process.stdout.write(`${JSON.stringify({ ...known, eventTypes: webhookSubscription.eventTypes })}\n`);
  const event = await receiver.event;
  receiver.close();
  return event;
}

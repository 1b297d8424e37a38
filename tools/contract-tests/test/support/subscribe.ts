import type { Client } from '@deedwire/testing';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

interface CreateInput {
  callbackUrl: string;
  eventTypes: { type: string; version?: string | null }[];
  idempotencyKey?: string | null;
  name?: string | null;
  timeoutSeconds?: number | null;
  webhookSecret?: string | null;
}

interface Created {
  createWebhookSubscription: {
    webhookSubscription: { id: string } | null;
    webhookSecret: string | null;
    userErrors: { code: string }[];
  };
}

const document: TypedDocumentNode<Created, { input: CreateInput }> = parse(`
  mutation ($input: CreateWebhookSubscriptionInput!) {
    createWebhookSubscription(input: $input) { webhookSubscription { id } webhookSecret userErrors { code message field } }
  }`);

/** Creates a subscription. Throws if there are user errors, for example because the handshake failed. */
export async function subscribe(client: Client, input: CreateInput): Promise<{ id: string; secret: string }> {
  const { createWebhookSubscription } = await client.request(document, { input });
  const { webhookSubscription, webhookSecret } = createWebhookSubscription;
  if (webhookSubscription === null || webhookSecret === null)
    throw new Error(JSON.stringify(createWebhookSubscription));
  return { id: webhookSubscription.id, secret: webhookSecret };
}

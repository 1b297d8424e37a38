import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

// Operations that customers of the test service send.

interface UserErrors {
  userErrors: { code: string; message: string; field: string[] | null }[];
}

export interface Subscription {
  id: string;
  callbackUrl: string;
  status: string;
  pausedReason: string | null;
  pausedAt: string | null;
  createdAt: string;
  eventTypes: { type: string; version: string }[];
}

export interface Delivery {
  id: string;
  sequence: number;
  status: string;
  nextAttemptAt: string | null;
  event: { id: string; type: string; version: string };
  attempts: { number: number; responseStatus: number | null; error: string | null }[];
}

export interface DeliveryPage {
  nodes: Delivery[];
  pageInfo: { endCursor: string | null; hasNextPage: boolean };
}

interface EventTypeInput {
  type: string;
  version?: string | null;
}

export interface SubscribeInput {
  callbackUrl: string;
  eventTypes: EventTypeInput[];
  idempotencyKey?: string | null;
  requestHeader?: { name: string; value: string } | null;
  timeoutSeconds?: number | null;
  webhookSecret?: string | null;
}

export interface ChangeInput {
  id: string;
  callbackUrl?: string | null;
  eventTypes?: EventTypeInput[] | null;
}

const subscription = 'id callbackUrl status pausedReason pausedAt createdAt eventTypes { type version }';
const delivery = 'id sequence status nextAttemptAt event { id type version } attempts { number responseStatus error }';
const userErrors = 'userErrors { code message field }';

const typed = <Data, Variables>(text: string): TypedDocumentNode<Data, Variables> => parse(text);

export const SubscribeDocument = typed<
  {
    createWebhookSubscription: { webhookSubscription: Subscription | null; webhookSecret: string | null } & UserErrors;
  },
  { input: SubscribeInput }
>(`mutation ($input: CreateWebhookSubscriptionInput!) {
  createWebhookSubscription(input: $input) { webhookSubscription { ${subscription} } webhookSecret ${userErrors} } }`);

export const ChangeSubscriptionDocument = typed<
  { updateWebhookSubscription: { webhookSubscription: Subscription | null } & UserErrors },
  { input: ChangeInput }
>(`mutation ($input: UpdateWebhookSubscriptionInput!) {
  updateWebhookSubscription(input: $input) { webhookSubscription { ${subscription} } ${userErrors} } }`);

export const UnsubscribeDocument = typed<
  { deleteWebhookSubscription: { deletedWebhookSubscriptionId: string | null } & UserErrors },
  { input: { id: string } }
>(`mutation ($input: DeleteWebhookSubscriptionInput!) {
  deleteWebhookSubscription(input: $input) { deletedWebhookSubscriptionId ${userErrors} } }`);

export const RotateSecretDocument = typed<
  { rotateWebhookSecret: UserErrors },
  { input: { id: string; webhookSecret: string; overlapSeconds: number } }
>(`mutation ($input: RotateWebhookSecretInput!) { rotateWebhookSecret(input: $input) { ${userErrors} } }`);

export const SubscriptionDocument = typed<{ webhookSubscription: Subscription | null }, { id: string }>(
  `query ($id: ID!) { webhookSubscription(id: $id) { ${subscription} } }`,
);

export const SubscriptionsDocument = typed<{ webhookSubscriptions: { nodes: Subscription[] } }, { first?: number }>(
  `query ($first: Int) { webhookSubscriptions(first: $first) { nodes { ${subscription} } } }`,
);

export const DeliveryDocument = typed<{ webhookDelivery: Delivery | null }, { id: string }>(
  `query ($id: ID!) { webhookDelivery(id: $id) { ${delivery} } }`,
);

export const DeliveriesDocument = typed<
  { webhookDeliveries: DeliveryPage },
  { subscriptionId?: string; status?: 'PENDING'; first?: number; after?: string | null }
>(`query ($subscriptionId: ID, $status: WebhookDeliveryStatus, $first: Int, $after: String) {
  webhookDeliveries(subscriptionId: $subscriptionId, status: $status, first: $first, after: $after) {
    nodes { ${delivery} } pageInfo { endCursor hasNextPage } } }`);

export const PlaceDocument = typed<
  { placeOrder: { order: { id: string } | null } & UserErrors },
  { input: { item: string; buyerEmail?: string | null; note?: string | null; idempotencyKey?: string | null } }
>(`mutation Place($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } ${userErrors} } }`);

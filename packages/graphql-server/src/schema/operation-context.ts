import {
  type Caller,
  findWebhookSubscriptions,
  type LenderContext,
  listDeliveriesOfSubscriptions,
  listWebhookAttempts,
  type Page,
  type SubscriptionDeliveriesRequest,
  toCaller,
  type WebhookActionContext,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import DataLoader from 'dataloader';

/** The dependencies of the use cases of either interface. */
export type InterfaceActionContext = WebhookActionContext & LenderContext;

/** The context of resolvers. Each operation has its own. */
export interface OperationContext {
  caller: Caller;
  actions: InterfaceActionContext;
  loaders: Loaders;
  /** Added to `extensions` of the response. */
  extensions: {
    /** Set if the mutation did not run, because it ran before with the same idempotency key. */
    idempotency?: { replayed: true };
  };
}

/** Each reads what all objects of a list need together. */
export interface Loaders {
  readonly webhookAttempts: DataLoader<WebhookDelivery, WebhookAttempt[], string>;
  /** By the identifier of the subscription. */
  readonly webhookSubscriptions: DataLoader<string, WebhookSubscription | null>;
  readonly deliveriesOfSubscriptions: DataLoader<SubscriptionDeliveriesRequest, Page<WebhookDelivery>, string>;
}

export function createOperationContext(
  actions: InterfaceActionContext,
  { client, ...request }: { client: AuthenticatedClient; requestId: string; address: string },
): OperationContext {
  const caller = toCaller(client, request);
  // Most operations need no loader.
  let loaders: Loaders | undefined;
  return {
    caller,
    actions,
    extensions: {},
    get loaders() {
      return (loaders ??= createLoaders(actions, caller));
    },
  };
}

function createLoaders(actions: InterfaceActionContext, caller: Caller): Loaders {
  return {
    webhookAttempts: new DataLoader((deliveries) => listWebhookAttempts(actions, deliveries), {
      cacheKeyFn: ({ id }) => id,
    }),
    webhookSubscriptions: new DataLoader((ids) => findWebhookSubscriptions(actions, caller, ids)),
    deliveriesOfSubscriptions: new DataLoader<SubscriptionDeliveriesRequest, Page<WebhookDelivery>, string>(
      (requests) => listDeliveriesOfSubscriptions(actions, caller, requests),
      {
        cacheKeyFn: ({ subscriptionId, first, after, status }) =>
          JSON.stringify([subscriptionId, first, after, status]),
      },
    ),
  };
}

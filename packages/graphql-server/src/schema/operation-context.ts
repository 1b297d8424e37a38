import {
  type Caller,
  listWebhookAttempts,
  toCaller,
  type WebhookActionContext,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import DataLoader from 'dataloader';

/** The context of resolvers. Each operation has its own. */
export interface OperationContext {
  caller: Caller;
  actions: WebhookActionContext;
  loaders: {
    webhookAttempts: DataLoader<WebhookDelivery, WebhookAttempt[], string>;
  };
}

export function createOperationContext(
  actions: WebhookActionContext,
  { client, ...request }: { client: AuthenticatedClient; requestId: string; address: string },
): OperationContext {
  return {
    caller: toCaller(client, request),
    actions,
    loaders: {
      webhookAttempts: new DataLoader((deliveries) => listWebhookAttempts(actions, deliveries), {
        cacheKeyFn: ({ id }) => id,
      }),
    },
  };
}

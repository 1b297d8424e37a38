import {
  type Caller,
  type LenderContext,
  listWebhookAttempts,
  toCaller,
  type WebhookActionContext,
  type WebhookAttempt,
  type WebhookDelivery,
} from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import DataLoader from 'dataloader';

/** The dependencies of the use cases of either interface. */
export type InterfaceActionContext = WebhookActionContext & LenderContext;

/** The context of resolvers. Each operation has its own. */
export interface OperationContext {
  caller: Caller;
  actions: InterfaceActionContext;
  loaders: {
    webhookAttempts: DataLoader<WebhookDelivery, WebhookAttempt[], string>;
  };
}

export function createOperationContext(
  actions: InterfaceActionContext,
  { client, ...request }: { client: AuthenticatedClient; requestId: string; address: string },
): OperationContext {
  // Most operations need no loader.
  let webhookAttempts: OperationContext['loaders']['webhookAttempts'] | undefined;
  return {
    caller: toCaller(client, request),
    actions,
    loaders: {
      get webhookAttempts() {
        webhookAttempts ??= new DataLoader((deliveries) => listWebhookAttempts(actions, deliveries), {
          cacheKeyFn: ({ id }) => id,
        });
        return webhookAttempts;
      },
    },
  };
}

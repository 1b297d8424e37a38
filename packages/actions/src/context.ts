import type { AccountId, InterfaceName } from '@deedwire/domain';
import type { SecretKeyRing, Store } from '@deedwire/store';
import type { CallbackPolicy, WebhookSender } from '@deedwire/webhook-sender';

/** What every action needs. */
export interface ActionContext {
  store: Store;
  /** The namespace of global identifiers, `gid://<namespace>/…`. */
  gidNamespace: string;
}

/** What actions need that call a callback URL or handle a webhook secret. */
export interface WebhookActionContext extends ActionContext {
  sender: WebhookSender;
  callbackPolicy: CallbackPolicy;
  secretKeys: SecretKeyRing;
}

/** The account on whose behalf an action runs, as authentication found it. */
export interface Caller {
  interfaceName: InterfaceName;
  accountId: AccountId;
  /** Of the request, for the logs of all that comes of it. Missing: there is none. */
  requestId?: string;
}

export type { ReceivedBody } from './body.ts';
export type { EventAt, Handler, HandlerContext, Handlers, UnhandledEvent, UnsignedHeaders } from './handlers.ts';
export {
  createInboxReceiver,
  createWebhookReceiver,
  type InboxReceiverOptions,
  type ReceivedRequest,
  type ReceiverLog,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from './receiver.ts';
export type { ReceiverResponse, WebhookResponseCode } from './responses.ts';
export type { Secrets } from './secrets.ts';
export { type Forgettable, type OnceResult, type WebhookStore, WorkFailedError } from './store.ts';
export type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

export type { ReceivedBody } from './body.ts';
export type { AnyEvent, EventOf, EventPackage, ParsedBody, UnknownEvent } from './events.ts';
export type {
  DeliverySource,
  EventAt,
  Handler,
  HandlerContext,
  Handlers,
  UnhandledEvent,
  UnsignedHeaders,
} from './handlers.ts';
export type { PulledDelivery } from './deliveries.ts';
export type { EventName, KeptEvent, KeptEvents } from './kept-events.ts';
export type { LogFields, ReceiverLog } from './log.ts';
export type { InboxReceiverOptions, WebhookReceiverOptions } from './options.ts';
export type { PullPositions } from './pull-positions.ts';
export type {
  GivenUpEvent,
  HeldEvent,
  Pull,
  PullCounts,
  PullEnd,
  PullProgress,
  PullRunOptions,
  PullTarget,
  ReconcileOptions,
  ReconcileReport,
  ReprocessOptions,
  ReprocessReport,
} from './pulling.ts';
export { createInboxReceiver, createWebhookReceiver, type PullingReceiver, type WebhookReceiver } from './receiver.ts';
export type { KeptResult } from './process-kept.ts';
export type { ReceiverResult } from './report.ts';
export type { ReceivedRequest } from './requests.ts';
export type { OutcomeCode, ReceiverResponse, WebhookResponseCode } from './responses.ts';
export type { Secrets } from './secrets.ts';
export { type Forgettable, type OnceResult, type WebhookStore, WorkFailedError } from './store.ts';
export type { AcceptResult, InboxDelivery, WebhookInbox } from './webhook-inbox.ts';

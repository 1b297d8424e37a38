export type { EventVersionStatus, InterfaceName, WebhookEventType, WebhookEventVersion } from './event-type.ts';
export { findEventType, findEventVersion, webhookEventTypes } from './event-types.ts';
export type { WebhookEvent } from './generated/webhook-event.ts';
export { isParsedEvent, parsedEventNames, parseWebhookBody } from './parse-webhook-body.ts';
export type { UnknownWebhookEvent, WebhookBody } from './parse-webhook-body.ts';
export { currentVersion } from './registry.ts';

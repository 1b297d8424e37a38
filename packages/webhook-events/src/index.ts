export { currentVersion, findEventType, findEventVersion, webhookEventTypes } from './event-types.ts';
export type { EventVersionStatus, InterfaceName, WebhookEventType, WebhookEventVersion } from './event-types.ts';

import { renderersFor } from '@deedwire/core';
import { type WebhookEvent, webhookEventTypes } from '@deedwire/webhook-events';

/** Adds its renderers to an event: one for each version in `webhook-events` that is not retired. */
export const withRenderers = renderersFor<WebhookEvent>(webhookEventTypes);

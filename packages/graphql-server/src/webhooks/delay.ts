import { type Delay, delayReasons } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookDelayReason`. */
export function addWebhookDelayReason(builder: InterfaceSchemaBuilder): WebhookParts['DelayReason'] {
  return builder.enumType('WebhookDelayReason', { values: delayReasons });
}

/** Adds `WebhookDelay`. */
export function addWebhookDelay(
  builder: InterfaceSchemaBuilder,
  Reason: WebhookParts['DelayReason'],
): ObjectTypeRef<Delay> {
  return builder.objectRef<Delay>('WebhookDelay').implement({
    fields: (t) => ({
      reason: t.expose('reason', { type: Reason }),
      since: t.expose('since', { type: 'DateTime', nullable: true }),
      until: t.expose('until', { type: 'DateTime', nullable: true }),
      message: t.exposeString('message'),
    }),
  });
}

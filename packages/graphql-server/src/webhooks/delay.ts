import { type Delay, delayReasons } from '@deedwire/actions';
import type { EnumTypeRef, InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';

export type WebhookDelayReasonRef = EnumTypeRef<Delay['reason']>;

/** Adds `WebhookDelayReason`. */
export function addWebhookDelayReason(builder: InterfaceSchemaBuilder): WebhookDelayReasonRef {
  return builder.enumType('WebhookDelayReason', { values: delayReasons });
}

/** Adds `WebhookDelay`. */
export function addWebhookDelay(builder: InterfaceSchemaBuilder, Reason: WebhookDelayReasonRef): ObjectTypeRef<Delay> {
  return builder.objectRef<Delay>('WebhookDelay').implement({
    fields: (t) => ({
      reason: t.expose('reason', { type: Reason }),
      since: t.expose('since', { type: 'DateTime', nullable: true }),
      until: t.expose('until', { type: 'DateTime', nullable: true }),
      message: t.exposeString('message'),
    }),
  });
}

import { type Delay, delayReasons } from '@deedwire/webhooks/deliveries';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';

/** Adds `WebhookDelay`. */
export function addWebhookDelay(builder: InterfaceSchemaBuilder): ObjectTypeRef<Delay> {
  const Reason = builder.enumType('WebhookDelayReason', { values: delayReasons });

  return builder.objectRef<Delay>('WebhookDelay').implement({
    fields: (t) => ({
      reason: t.expose('reason', { type: Reason }),
      since: t.expose('since', { type: 'DateTime', nullable: true }),
      until: t.expose('until', { type: 'DateTime', nullable: true }),
      message: t.exposeString('message'),
    }),
  });
}

import type { WebhookAttempt } from '@deedwire/actions';
import { shownAttemptErrors } from '@deedwire/webhooks/deliveries';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';

/** Adds `WebhookAttempt`. */
export function addWebhookAttempt(builder: InterfaceSchemaBuilder): ObjectTypeRef<WebhookAttempt> {
  const AttemptError = builder.enumType('WebhookAttemptError', { values: shownAttemptErrors });

  return builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
    fields: (t) => ({
      number: t.exposeInt('number'),
      startedAt: t.expose('startedAt', { type: 'DateTime' }),
      durationMs: t.exposeInt('durationMs'),
      responseStatus: t.exposeInt('responseStatus', { nullable: true }),
      error: t.expose('error', { type: AttemptError, nullable: true }),
      advice: t.exposeString('advice', { nullable: true }),
    }),
  });
}

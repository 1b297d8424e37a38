import type { WebhookAttempt } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';

const errors = [
  'ADDRESS_FORBIDDEN',
  'CONNECTION_FAILED',
  'DNS_FAILED',
  'PROTOCOL_ERROR',
  'TIMEOUT',
  'TLS_FAILED',
] as const;

/** `WebhookAttempt`. */
export function addWebhookAttempt(builder: InterfaceSchemaBuilder): ObjectTypeRef<WebhookAttempt> {
  const AttemptError = builder.enumType('WebhookAttemptError', { values: errors });

  return builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
    fields: (t) => ({
      number: t.exposeInt('number'),
      startedAt: t.expose('startedAt', { type: 'DateTime' }),
      durationMs: t.exposeInt('durationMs'),
      responseStatus: t.exposeInt('responseStatus', { nullable: true }),
      error: t.field({
        type: AttemptError,
        nullable: true,
        resolve: (attempt) => errors.find((name) => name === attempt.error),
      }),
    }),
  });
}

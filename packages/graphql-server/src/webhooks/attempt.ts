import { type ListedAttempt, shownAttemptErrors } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import { addWebhookExchange } from './exchange.ts';

/** Adds `WebhookAttempt`. */
export function addWebhookAttempt(builder: InterfaceSchemaBuilder): ObjectTypeRef<ListedAttempt> {
  const AttemptError = builder.enumType('WebhookAttemptError', { values: shownAttemptErrors });
  const Exchange = addWebhookExchange(builder);

  return builder.objectRef<ListedAttempt>('WebhookAttempt').implement({
    fields: (t) => ({
      number: t.exposeInt('number'),
      startedAt: t.expose('startedAt', { type: 'DateTime' }),
      durationMs: t.exposeInt('durationMs'),
      responseStatus: t.exposeInt('responseStatus', { nullable: true }),
      error: t.expose('error', { type: AttemptError, nullable: true }),
      advice: t.exposeString('advice', { nullable: true }),
      exchange: t.field({
        type: Exchange,
        nullable: true,
        resolve: (attempt, _args, { loaders }) => loaders.webhookExchanges.load(attempt),
      }),
    }),
  });
}

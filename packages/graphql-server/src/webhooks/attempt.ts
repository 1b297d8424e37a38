import type { ListedAttempt, WebhookExchange, WebhookHeader } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '../schema/builder.ts';
import type { WebhookParts } from './webhook-parts.ts';

/** Adds `WebhookAttempt`. */
export function addWebhookAttempt(
  builder: InterfaceSchemaBuilder,
  { AttemptError }: Pick<WebhookParts, 'AttemptError'>,
): ObjectTypeRef<ListedAttempt> {
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
        resolve: (attempt, _args, { loaders }) => loaders().webhookExchanges.load(attempt),
      }),
    }),
  });
}

/** Adds `WebhookExchange` and `WebhookHeader`. */
function addWebhookExchange(builder: InterfaceSchemaBuilder): ObjectTypeRef<WebhookExchange> {
  const Header = builder.objectRef<WebhookHeader>('WebhookHeader').implement({
    fields: (t) => ({ name: t.exposeString('name'), value: t.exposeString('value') }),
  });

  return builder.objectRef<WebhookExchange>('WebhookExchange').implement({
    fields: (t) => ({
      callbackUrl: t.exposeString('callbackUrl', { nullable: true }),
      requestHeaders: t.field({ type: [Header], resolve: ({ requestHeaders }) => requestHeaders }),
      remoteAddress: t.exposeString('remoteAddress', { nullable: true }),
      dnsMs: t.exposeInt('dnsMs', { nullable: true }),
      connectMs: t.exposeInt('connectMs', { nullable: true }),
      tlsMs: t.exposeInt('tlsMs', { nullable: true }),
      firstByteMs: t.exposeInt('firstByteMs', { nullable: true }),
      responseHeaders: t.field({ type: [Header], resolve: ({ responseHeaders }) => responseHeaders }),
      responseBody: t.string({
        nullable: true,
        resolve: async (exchange, _args, { loaders }) => (await loaders().responseBodies.load(exchange)).text,
      }),
      responseBodyBase64: t.string({
        nullable: true,
        resolve: async (exchange, _args, { loaders }) => (await loaders().responseBodies.load(exchange)).base64,
      }),
      responseBytes: t.exposeInt('responseBytes'),
      replayId: t.exposeID('replayId', { nullable: true }),
    }),
  });
}

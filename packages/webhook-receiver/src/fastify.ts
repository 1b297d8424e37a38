import type { FastifyInstance } from 'fastify';
import { receivedRequest } from './node.ts';
import type { WebhookReceiver } from './receiver.ts';

const fix = 'Register the receiver as a separate plugin, and let no hook read the body of its route.';

export interface FastifyReceiverOptions {
  receiver: WebhookReceiver;
  /** The path of the callback URL. */
  url: string;
}

/**
 * A plugin of Fastify 5: `app.register(fastifyReceiver, { receiver, url: '/webhooks' })`. The parsers of the rest of the
 * application stay as they are.
 */
export async function fastifyReceiver(
  instance: FastifyInstance,
  { receiver, url }: FastifyReceiverOptions,
): Promise<void> {
  // These apply to this plugin only. The body is left to the receiver.
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (_request, _payload, done) => done(null));
  instance.all(url, async ({ raw }, reply) => {
    const { status, headers, body } = await receiver.receive(receivedRequest(raw, fix));
    return reply.code(status).headers(headers).send(body);
  });
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { receivedRequest } from './node.ts';
import type { WebhookReceiver } from './receiver.ts';

const fix =
  'Register fastifyReceiver as a separate plugin, or let a hook or NestJS (rawBody: true) keep the bytes of the body in request.rawBody.';

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
  instance.all(url, fastifyHandler(receiver));
}

/**
 * Handles a route of Fastify 5 whose parser keeps the bytes in `request.rawBody` or `request.body`, for example that of NestJS with
 * `rawBody: true`.
 */
export function fastifyHandler(
  receiver: WebhookReceiver,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const { status, headers, body } = await receiver.receive(receivedRequest(request.raw, fix, request));
    return reply.code(status).headers(headers).send(body);
  };
}

import { createServer, type IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { WebhookReceiver } from '@deedwire/webhook-receiver';
import { expressHandler } from '@deedwire/webhook-receiver/express';
import { fastifyReceiver } from '@deedwire/webhook-receiver/fastify';
import { honoHandler } from '@deedwire/webhook-receiver/hono';
import { type LambdaEvent, lambdaHandler } from '@deedwire/webhook-receiver/lambda';
import { nextHandler, nextPagesHandler } from '@deedwire/webhook-receiver/next';
import { nodeHandler } from '@deedwire/webhook-receiver/node';
import { createAdaptorServer } from '@hono/node-server';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';

/** The path of the callback URL. */
export const receiverPath = '/webhooks';

export interface ReceiverServer {
  readonly name: string;
  /** As the README of the kit says. */
  readonly create: (receiver: WebhookReceiver) => Promise<Server> | Server;
}

/** API Gateway in front of a function. */
function gateway(receiver: WebhookReceiver, toEvent: (request: IncomingMessage, body: Buffer) => LambdaEvent): Server {
  const handle = lambdaHandler(receiver);
  return createServer((request, response) => {
    void (async () => {
      const event = toEvent(request, Buffer.concat(await request.toArray()));
      const { statusCode, headers, body } = await handle(event);
      response.writeHead(statusCode, headers).end(body);
    })();
  });
}

/** A server of each platform that the kit has an adapter for. */
export const receiverServers: readonly ReceiverServer[] = [
  { name: 'Node', create: (receiver) => createServer(nodeHandler(receiver)) },
  {
    name: 'Express',
    create(receiver) {
      const app = express();
      app.post(receiverPath, expressHandler(receiver));
      app.use(express.json());
      return createServer(app);
    },
  },
  {
    name: 'Fastify',
    async create(receiver) {
      const app = fastify();
      await app.register(fastifyReceiver, { receiver, url: receiverPath });
      await app.ready();
      return app.server;
    },
  },
  {
    name: 'Hono',
    create(receiver) {
      const app = new Hono();
      app.post(receiverPath, honoHandler(receiver));
      return createAdaptorServer({ fetch: app.fetch });
    },
  },
  // The function that a route exports, without the server of Next.js.
  {
    name: 'Next.js, App Router',
    create: (receiver) => createAdaptorServer({ fetch: nextHandler(receiver) }),
  },
  {
    name: 'Next.js, Pages Router',
    create(receiver) {
      const handle = nextPagesHandler(receiver);
      return createServer((request, response) => void handle(request, response));
    },
  },
  {
    name: 'Lambda, payload format 1.0 with text',
    create: (receiver) =>
      gateway(receiver, ({ method = '', headersDistinct }, body) => ({
        httpMethod: method,
        multiValueHeaders: headersDistinct,
        body: body.toString(),
        isBase64Encoded: false,
      })),
  },
  {
    name: 'Lambda, payload format 2.0 with base64',
    create: (receiver) =>
      gateway(receiver, ({ method = '', headersDistinct }, body) => ({
        requestContext: { http: { method } },
        headers: Object.fromEntries(
          Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')]),
        ),
        body: body.toString('base64'),
        isBase64Encoded: true,
      })),
  },
  {
    name: 'A function of the Fetch API',
    create: (receiver) => createAdaptorServer({ fetch: (request) => receiver.fetch(request) }),
  },
];

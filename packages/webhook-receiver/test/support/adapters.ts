import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen } from '@deedwire/testing';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { expressHandler } from '../../src/express.ts';
import { fastifyReceiver } from '../../src/fastify.ts';
import { honoHandler } from '../../src/hono.ts';
import { lambdaHandler, type LambdaEvent } from '../../src/lambda.ts';
import { nextHandler, nextPagesHandler } from '../../src/next.ts';
import { nodeHandler } from '../../src/node.ts';
import type { WebhookReceiver } from '../../src/receiver.ts';

export interface Running {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/**
 * What is mounted before the receiver: nothing, a parser that keeps the bytes or leaves the body to the receiver, or something
 * that consumes the body.
 */
export type Mount = 'consumed' | 'parser' | 'plain';

export interface Adapter {
  readonly name: string;
  /** True if the platform passes whole bodies only. */
  readonly isBuffered: boolean;
  /** A part of the line that the log has after the mount `consumed`. */
  readonly fix: string;
  start(receiver: WebhookReceiver, mount: Mount): Promise<Running>;
}

async function serve(server: Server): Promise<Running> {
  const listening = await listen(server);
  return {
    url: `http://127.0.0.1:${listening.port}/webhooks`,
    port: listening.port,
    stop: () => listening.close(),
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function serverOf(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Server {
  return createServer((request, response) => void handle(request, response));
}

/** A server of functions of the Fetch API, which streams the body. */
function fetchServer(handle: (request: Request) => Promise<Response>): Server {
  return serverOf(async (incoming, outgoing) => {
    const headers = new Headers();
    for (const [name, values] of Object.entries(incoming.headersDistinct))
      for (const value of values ?? []) headers.append(name, value);
    const { method = '' } = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        try {
          for await (const chunk of incoming.iterator({ destroyOnReturn: false }))
            controller.enqueue(new Uint8Array(chunk));
          controller.close();
        } catch (error) {
          controller.error(error);
        }
      },
    });
    const request = new Request(`http://localhost${incoming.url}`, {
      method,
      headers,
      ...(hasBody ? { body, duplex: 'half' } : {}),
    });
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  });
}

const node: Adapter = {
  name: 'node',
  isBuffered: false,
  fix: 'Let nothing read the request before the receiver.',
  start(receiver, mount) {
    const handle = nodeHandler(receiver);
    return serve(
      serverOf(async (request, response) => {
        if (mount === 'consumed') await bytesOf(request);
        if (mount === 'parser') Object.assign(request, { body: await bytesOf(request) });
        handle(request, response);
      }),
    );
  },
};

const expressAdapter: Adapter = {
  name: 'express',
  isBuffered: false,
  fix: 'Mount the receiver before express.json()',
  start(receiver, mount) {
    const app = express();
    if (mount === 'consumed') app.use(express.json());
    if (mount === 'parser') app.use(express.raw({ type: '*/*', limit: '300kb' }));
    app.all('/webhooks', expressHandler(receiver));
    return serve(createServer(app));
  },
};

const fastifyAdapter: Adapter = {
  name: 'fastify',
  isBuffered: false,
  fix: 'Register the receiver as a separate plugin',
  async start(receiver, mount) {
    const app = fastify();
    if (mount === 'consumed') {
      app.addHook('onRequest', async ({ raw }) => {
        await bytesOf(raw);
      });
    }
    if (mount === 'parser')
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) =>
        done(null, JSON.parse(String(body))),
      );
    await app.register(fastifyReceiver, { receiver, url: '/webhooks' });
    await app.ready();
    return serve(app.server);
  },
};

const hono: Adapter = {
  name: 'hono',
  isBuffered: false,
  fix: 'Let no middleware read the body of its route',
  start(receiver, mount) {
    const app = new Hono();
    app.use(async ({ req }, next) => {
      if (mount === 'consumed') await req.raw.text();
      if (mount === 'parser') await req.json();
      await next();
    });
    app.all('/webhooks', honoHandler(receiver));
    return serve(fetchServer(async (request) => app.fetch(request)));
  },
};

const next: Adapter = {
  name: 'next',
  isBuffered: false,
  fix: 'Pass the request before anything reads its body',
  start(receiver, mount) {
    const handle = nextHandler(receiver);
    return serve(
      fetchServer(async (request) => {
        if (mount === 'consumed') await request.text();
        if (mount === 'parser') await request.clone().json();
        return handle(request);
      }),
    );
  },
};

const nextPages: Adapter = {
  name: 'next, Pages Router',
  isBuffered: false,
  fix: 'export const config = { api: { bodyParser: false } };',
  start(receiver, mount) {
    const handle = nextPagesHandler(receiver);
    return serve(
      serverOf(async (request, response) => {
        if (mount === 'consumed') Object.assign(request, { body: JSON.parse((await bytesOf(request)).toString()) });
        if (mount === 'parser') Object.assign(request, { body: await bytesOf(request) });
        await handle(request, response);
      }),
    );
  },
};

/** API Gateway, in front of a function: whole bodies, base64 for both payload formats. */
function lambda(name: string, format: '1.0' | '2.0'): Adapter {
  return {
    name,
    isBuffered: true,
    fix: 'Pass the event of the function unchanged',
    start(receiver, mount) {
      const handle = lambdaHandler(receiver);
      return serve(
        serverOf(async (request, response) => {
          const bytes = await bytesOf(request).catch(() => null);
          if (bytes === null) return;
          const { method = '', headers, headersDistinct } = request;
          const body = mount === 'parser' ? bytes.toString() : bytes.toString('base64');
          const event: LambdaEvent = { body, isBase64Encoded: mount !== 'parser' };
          if (format === '2.0') {
            event.requestContext = { http: { method } };
            event.headers = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value)]));
          } else {
            event.httpMethod = method;
            event.multiValueHeaders = headersDistinct;
          }
          if (mount === 'consumed')
            Object.assign(event, { body: JSON.parse(bytes.toString()), isBase64Encoded: false });
          const result = await handle(event);
          response.writeHead(result.statusCode, result.headers).end(result.body);
        }),
      );
    },
  };
}

export const adapters: readonly Adapter[] = [
  node,
  expressAdapter,
  fastifyAdapter,
  hono,
  next,
  nextPages,
  lambda('lambda, payload format 1.0', '1.0'),
  lambda('lambda, payload format 2.0', '2.0'),
];
export const nodeAdapter: Adapter = node;

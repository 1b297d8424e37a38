import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { Server as NetServer } from 'node:net';
import { listen } from '@deedwire/testing';
import { createAdaptorServer } from '@hono/node-server';
import express5 from 'express';
import { fastify } from 'fastify';
import { expressHandler } from '../../src/express.ts';
import { fastifyReceiver } from '../../src/fastify.ts';
import { lambdaHandler, type LambdaEvent } from '../../src/lambda.ts';
import { memoryStore } from '../../src/memory.ts';
import { nextHandler, nextPagesHandler } from '../../src/next.ts';
import { nodeHandler } from '../../src/node.ts';
import type { WebhookReceiver } from '../../src/receiver.ts';
import { fetchApps } from './fetch-apps.ts';
import { type CreateReceiver, type Hooks, type Mount, optionsOf, type Setup } from './setup.ts';

interface Listening {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** A receiver behind a server, in this process or another. */
export interface Running extends Listening {
  forget(ids: readonly string[]): Promise<number>;
  /** Resolves when the receiver refuses requests, `closed` when its handlers have finished. */
  close(): Promise<{ closed: Promise<void> }>;
  logged(): Promise<readonly string[]>;
  /** Whether the signal of the handler that got this delivery is aborted. */
  isAborted(id: string): Promise<boolean>;
}

export interface Start {
  setup: Setup;
  mount: Mount;
  create: CreateReceiver;
  hooks: Hooks;
}

interface AdapterTraits {
  readonly name: string;
  /** True if the platform passes whole bodies only. */
  readonly isBuffered: boolean;
  /** A part of the line that the log has after the mount `consumed`. */
  readonly fix: string;
  /** The names of cases that its platform does not pass, whatever the receiver does. */
  readonly excluded?: readonly string[];
}

export interface Adapter extends AdapterTraits {
  start(options: Start): Promise<Running>;
}

interface LocalAdapter extends AdapterTraits {
  start(receiver: WebhookReceiver, mount: Mount): Promise<Listening>;
}

function local(adapter: LocalAdapter): Adapter {
  return {
    ...adapter,
    async start({ setup, mount, create, hooks }) {
      const recorded = { logged: [], signals: new Map<string, AbortSignal>() };
      const receiver = create(optionsOf(setup, memoryStore(), hooks, recorded));
      return {
        ...(await adapter.start(receiver, mount)),
        forget: (ids) => receiver.forget({ ids }),
        close: async () => ({ closed: receiver.close() }),
        logged: async () => recorded.logged,
        isAborted: async (id) => recorded.signals.get(id)?.aborted === true,
      };
    },
  };
}

async function serve(server: NetServer): Promise<Listening> {
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
    const bytes = Buffer.from(await response.arrayBuffer());
    const length = { 'content-length': bytes.byteLength };
    outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...length }).end(bytes);
  });
}

const node: LocalAdapter = {
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

// It comes without types. What the tests use of it is equal in both releases.
const express4: typeof express5 = createRequire(import.meta.url)('express-4');

/** By major release. */
export const expresses = { 4: express4, 5: express5 } as const;

function expressAdapter(major: keyof typeof expresses): LocalAdapter {
  const express = expresses[major];
  return {
    name: `express ${major}`,
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
}

const fastifyAdapter: LocalAdapter = {
  name: 'fastify',
  isBuffered: false,
  fix: 'Register fastifyReceiver as a separate plugin',
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

const hono: LocalAdapter = {
  name: 'hono',
  isBuffered: false,
  fix: 'Let no middleware read the body of its route',
  start(receiver, mount) {
    const handle = fetchApps.hono(receiver, mount);
    return serve(createAdaptorServer({ fetch: (request) => handle(request, {}) }));
  },
};

const next: LocalAdapter = {
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

const nextPages: LocalAdapter = {
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

/** The values of each header, by its name as the client wrote it. */
function asWritten(rawHeaders: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (let index = 0; index < rawHeaders.length; index += 2)
    (headers[rawHeaders[index] ?? ''] ??= []).push(rawHeaders[index + 1] ?? '');
  return headers;
}

/** API Gateway, in front of a function: whole bodies, base64 for both payload formats. */
function lambda(name: string, format: '1.0' | '2.0'): LocalAdapter {
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
          const { method = '', headers, rawHeaders } = request;
          const body = mount === 'parser' ? bytes.toString() : bytes.toString('base64');
          const event: LambdaEvent = { body, isBase64Encoded: mount !== 'parser' };
          if (format === '2.0') {
            event.requestContext = { http: { method } };
            event.headers = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key, String(value)]));
          } else {
            event.httpMethod = method;
            event.multiValueHeaders = asWritten(rawHeaders);
          }
          if (mount === 'consumed')
            Object.assign(event, { body: JSON.parse(bytes.toString()), isBase64Encoded: false });
          const result = await handle(event);
          const length = { 'content-length': Buffer.byteLength(result.body) };
          response.writeHead(result.statusCode, { ...result.headers, ...length }).end(result.body);
        }),
      );
    },
  };
}

export const nodeAdapter: Adapter = local(node);

export const adapters: readonly Adapter[] = [
  nodeAdapter,
  ...[
    expressAdapter(4),
    expressAdapter(5),
    fastifyAdapter,
    hono,
    next,
    nextPages,
    lambda('lambda, payload format 1.0', '1.0'),
    lambda('lambda, payload format 2.0', '2.0'),
  ].map(local),
];

import { createServer } from 'node:http';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { listen } from '@deedwire/testing';
import type { RequestHandler } from 'express';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import fastifyRawBody from 'fastify-raw-body';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import serverless from 'serverless-http';
import { describe, expect, test } from 'vitest';
import { expressHandler } from '../../src/express.ts';
import { fastifyHandler, fastifyReceiver } from '../../src/fastify.ts';
import { honoHandler } from '../../src/hono.ts';
import { lambdaHandler, type LambdaEvent } from '../../src/lambda.ts';
import type { ReceiverLog } from '../../src/log.ts';
import { memoryStore } from '../../src/memory.ts';
import { nodeHandler } from '../../src/node.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../../src/receiver.ts';
import { expresses } from '../support/adapters.ts';
import { asRequest, placed, type Delivery, deliveryOf, newSecret, secret, send } from '../support/delivery.ts';
import { logLinesTo, silent } from '../support/log.ts';
import * as events from '../support/order-events/index.ts';

function receiver(log: ReceiverLog = silent): WebhookReceiver {
  return createWebhookReceiver({
    events,
    prefix: 'X-Service',
    secrets: [secret],
    store: memoryStore(),
    on: { 'order.placed': { '2026-11-01': () => {} } },
    log,
  });
}

const form = 'application/x-www-form-urlencoded';
const processed = { status: 200, json: { result: 'processed' } };
const notRaw = { status: 500, json: { code: 'BODY_NOT_RAW' } };

/** The signed body after a proxy compressed it. */
function compressed(): Delivery {
  const { body, headers, ...rest } = deliveryOf();
  return { ...rest, body: gzipSync(body), headers: { ...headers, 'content-encoding': 'gzip' } };
}

async function answerOfHono(middleware: MiddlewareHandler, delivery: Delivery): Promise<object> {
  const app = new Hono().use(middleware).post('/webhooks', honoHandler(receiver()));
  const response = await app.request(asRequest(delivery));
  return { status: response.status, json: await response.json() };
}

function eventOf({ headers, body }: Delivery): LambdaEvent & { headers: Record<string, string> } {
  return {
    httpMethod: 'POST',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  };
}

async function answerTo(event: LambdaEvent): Promise<object> {
  const { statusCode, body } = await lambdaHandler(receiver())(event);
  return { status: statusCode, json: JSON.parse(body) };
}

function keepRawBody(request: object, _response: unknown, rawBody: unknown): void {
  Object.assign(request, { rawBody });
}

const setEncoding: RequestHandler = (request, _response, next) => {
  request.setEncoding('utf8');
  next();
};

const parseForm: MiddlewareHandler = async ({ req }, next) => {
  await req.parseBody();
  await next();
};

describe.each([4, 5] as const)('Express %i', (major) => {
  const express = expresses[major];

  async function answerAfter(parser: RequestHandler, delivery: Delivery): Promise<object> {
    const app = express().use(parser).post('/webhooks', expressHandler(receiver()));
    const server = await listen(createServer(app));
    const { status, json } = await send(`http://127.0.0.1:${server.port}/webhooks`, delivery);
    await server.close();
    return { status, json };
  }

  test('processes a delivery whose media type the parser ignores', async () => {
    const delivery = deliveryOf({ headers: { 'content-type': 'text/plain' } });
    for (const parser of [
      express.raw({ type: 'application/json' }),
      express.json(),
      express.urlencoded({ extended: false }),
    ])
      expect(await answerAfter(parser, delivery)).toEqual(processed);
  });

  test('processes a delivery after a parser of bytes that decompresses it', async () => {
    expect(await answerAfter(express.raw({ type: '*/*' }), compressed())).toEqual(processed);
  });

  test('responds 500 after a parser of text or forms', async () => {
    expect(await answerAfter(express.text({ type: '*/*' }), deliveryOf())).toEqual(notRaw);
    const delivery = deliveryOf({ headers: { 'content-type': form } });
    expect(await answerAfter(express.urlencoded({ extended: false }), delivery)).toEqual(notRaw);
  });

  test('responds 500 to a request whose body is decoded, without reading it', async () => {
    expect(await answerAfter(setEncoding, deliveryOf())).toEqual(notRaw);
    expect(await answerAfter(setEncoding, deliveryOf({ body: 'x'.repeat(400_000) }))).toEqual(notRaw);
  });

  test('processes a delivery whose bytes a parser keeps in rawBody, as those of NestJS and Firebase do', async () => {
    const spaced = deliveryOf({ body: ` ${JSON.stringify(placed)}` });
    expect(await answerAfter(express.json({ verify: keepRawBody }), spaced)).toEqual(processed);
  });

  test('processes a delivery whose bytes are those of another realm', async () => {
    const bytesOfRealm = runInNewContext('(bytes) => new Uint8Array(bytes)');
    for (const key of ['body', 'rawBody']) {
      const parser = express.json({
        verify: (request, _response, bytes) => void Object.assign(request, { kept: { [key]: bytesOfRealm(bytes) } }),
      });
      const keep: RequestHandler = (request, response, next) =>
        parser(request, response, () => next(void Object.assign(request, Reflect.get(request, 'kept'))));
      expect({ key, ...(await answerAfter(keep, deliveryOf())) }).toEqual({ key, ...processed });
    }
  });

  test('responds 413 to a rawBody that is too large, and 500 to one that is a text', async () => {
    for (const [bytes, status] of [
      [Buffer.alloc(300_001), 413],
      ['{}', 500],
    ] as const) {
      const parser = express.json({ verify: (request) => keepRawBody(request, null, bytes) });
      expect(await answerAfter(parser, deliveryOf())).toMatchObject({ status });
    }
  });

  test('processes the simulated requests of serverless-http, and refuses those that are not authentic', async () => {
    const app = express().post('/webhooks', expressHandler(receiver()));
    const answer = async ({ method, headers, body }: Delivery): Promise<object> => {
      const response = await serverless(app)(
        {
          version: '2.0',
          rawPath: '/webhooks',
          requestContext: { http: { method, sourceIp: '127.0.0.1' } },
          headers: { ...headers },
          body: Buffer.from(body).toString('base64'),
          isBase64Encoded: true,
        },
        {},
      );
      return { status: Reflect.get(response, 'statusCode'), json: JSON.parse(Reflect.get(response, 'body')) };
    };
    expect(await answer(deliveryOf())).toEqual(processed);
    const other = await answer(deliveryOf({ secret: newSecret }));
    expect(other).toEqual({ status: 401, json: { code: 'SIGNATURE_MISMATCH' } });
  });
});

describe('Fastify', () => {
  test('processes the simulated requests of inject, and refuses those that are not authentic', async () => {
    const app = fastify();
    await app.register(fastifyReceiver, { receiver: receiver(), url: '/webhooks' });
    const answer = async ({ headers, body }: Delivery): Promise<object> => {
      const payload = Buffer.from(body);
      const response = await app.inject({ method: 'POST', url: '/webhooks', payload, headers: { ...headers } });
      return { status: response.statusCode, json: response.json() };
    };
    expect(await answer(deliveryOf())).toEqual(processed);
    const other = await answer(deliveryOf({ secret: newSecret }));
    expect(other).toEqual({ status: 401, json: { code: 'SIGNATURE_MISMATCH' } });
    await app.close();
  });
});

/** As NestJS does with `rawBody: true`. */
function keepRawBodies(app: FastifyInstance): void {
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    Object.assign(request, { rawBody: body });
    done(null, JSON.parse(body.toString()));
  });
}

describe('Fastify, whose parser keeps the bytes', () => {
  const noted: string[] = [];
  const handleRaw = nodeHandler(receiver(logLinesTo(noted)));

  const bodiesOf = {
    'fastify-raw-body': (app: FastifyInstance) => app.register(fastifyRawBody, { encoding: false, runFirst: true }),
    NestJS: keepRawBodies,
    'a parser of bytes': (app: FastifyInstance) =>
      app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body)),
    'a parser of JSON': () => {},
  };

  async function answerAfter(
    name: keyof typeof bodiesOf,
    mount: (app: FastifyInstance) => void,
    delivery = deliveryOf(),
  ): Promise<object> {
    const app = fastify();
    await bodiesOf[name](app);
    mount(app);
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { status, json } = await send(`${app.listeningOrigin}/webhooks`, delivery);
    await app.close();
    return { status, json };
  }

  const plugin = (app: FastifyInstance) =>
    void app.register(fastifyReceiver, { receiver: receiver(), url: '/webhooks' });
  const handler = (app: FastifyInstance) => void app.post('/webhooks', fastifyHandler(receiver()));
  const withNodeHandler = (requestOf: (request: FastifyRequest) => unknown) => (app: FastifyInstance) =>
    void app.post('/webhooks', (request, reply) => {
      reply.hijack();
      // @ts-expect-error -- what JavaScript passes
      handleRaw(requestOf(request), reply.raw);
    });

  test.each(['fastify-raw-body', 'NestJS', 'a parser of bytes', 'a parser of JSON'] as const)(
    'the plugin processes a delivery beside %s',
    async (name) => {
      expect(await answerAfter(name, plugin)).toEqual(processed);
    },
  );

  test('the plugin processes a delivery beside fastify-raw-body whose bytes arrive in parts', async () => {
    const spaced = deliveryOf({ body: JSON.stringify(placed) + ' '.repeat(200_000) });
    expect(await answerAfter('fastify-raw-body', plugin, spaced)).toEqual(processed);
  });

  test.each(['fastify-raw-body', 'NestJS', 'a parser of bytes'] as const)(
    'the handler of a route processes a delivery beside %s, and so does that of node:http with the request of Fastify',
    async (name) => {
      expect(await answerAfter(name, handler)).toEqual(processed);
      expect(
        await answerAfter(
          name,
          withNodeHandler((request) => request),
        ),
      ).toMatchObject({ status: 200 });
    },
  );

  test.each([
    ['the request of Fastify, without bytes,', 'a parser of JSON', (request: FastifyRequest) => request],
    ['its request of node:http', 'NestJS', ({ raw }: FastifyRequest) => raw],
  ] as const)('the handler of node:http says what to use in place of %s', async (_, name, requestOf) => {
    noted.length = 0;
    expect(await answerAfter(name, withNodeHandler(requestOf))).toEqual(notRaw);
    expect(noted).toEqual([expect.stringContaining('use fastifyHandler(receiver)(request, reply)')]);
  });

  test('the handler of a route says how to keep the bytes', async () => {
    const lines: string[] = [];
    const mount = (app: FastifyInstance) => void app.post('/webhooks', fastifyHandler(receiver(logLinesTo(lines))));
    expect(await answerAfter('a parser of JSON', mount)).toEqual(notRaw);
    expect(lines).toEqual([
      expect.stringContaining('NestJS (rawBody: true) keep the bytes of the body in request.rawBody'),
    ]);
  });
});

describe('Hono', () => {
  test('processes a delivery after the middleware that limits bodies', async () => {
    expect(await answerOfHono(bodyLimit({ maxSize: 300_000 }), deliveryOf())).toEqual(processed);
  });

  test('processes a delivery after each reader that keeps the bytes', async () => {
    for (const read of ['arrayBuffer', 'blob', 'json', 'text'] as const) {
      const middleware: MiddlewareHandler = async ({ req }, next) => {
        await req[read]();
        await next();
      };
      expect({ read, ...(await answerOfHono(middleware, deliveryOf())) }).toEqual({ read, ...processed });
    }
  });

  test('processes a delivery after a parser of forms, which keeps the bytes', async () => {
    expect(await answerOfHono(parseForm, deliveryOf({ headers: { 'content-type': form } }))).toEqual(processed);
  });
});

describe('Lambda', () => {
  test('processes the event of a load balancer, whose multi-value headers are null', async () => {
    expect(await answerTo({ ...eventOf(deliveryOf()), multiValueHeaders: null })).toEqual(processed);
  });

  test('processes the event of an emulator, whose multi-value headers are empty', async () => {
    expect(await answerTo({ ...eventOf(deliveryOf()), multiValueHeaders: {} })).toEqual(processed);
  });

  const type = 'application/json';
  test.each([
    ['of a load balancer in multi-value mode', { headers: null }, { multiValueHeaders: { 'content-type': [type] } }],
    ['of payload format 1.0, which has both', {}, { multiValueHeaders: { 'content-type': [type] } }],
    ['of an emulator, whose multi-value headers are empty', { multiValueHeaders: {} }, {}],
    ['of a load balancer, whose multi-value headers are null', { multiValueHeaders: null }, {}],
  ])('responds with the headers that the event has: %s', async (_, change, multiple) => {
    const event = eventOf(deliveryOf());
    const values = Object.entries(event.headers).map(([name, value]) => [name, [value]]);
    const { multiValueHeaders, ...result } = await lambdaHandler(receiver())({
      ...event,
      multiValueHeaders: Object.fromEntries(values),
      ...change,
    });
    expect(result).toMatchObject({ statusCode: 200, headers: { 'content-type': type } });
    expect({ multiValueHeaders }).toMatchObject(multiple);
    expect(multiValueHeaders === undefined).toBe(!('multiValueHeaders' in multiple));
  });

  test('processes a body of text with a byte order mark', async () => {
    const body = `\uFEFF${JSON.stringify(placed)}`;
    expect(await answerTo({ ...eventOf(deliveryOf({ body })), body, isBase64Encoded: false })).toEqual(processed);
  });

  test('refuses a body whose flag for base64 is missing or wrong', async () => {
    const event = eventOf(deliveryOf());
    const refused = { status: 401, json: { code: 'SIGNATURE_MISMATCH' } };
    expect(await answerTo({ ...event, isBase64Encoded: false })).toEqual(refused);
    expect(await answerTo({ ...event, body: JSON.stringify(placed) })).toEqual(refused);
    expect(await answerTo({ ...event, body: '%%%' })).toEqual(refused);
  });

  test('responds to events without a body, headers or a method', async () => {
    const { body: _body, ...withoutBody } = eventOf(deliveryOf({ body: '' }));
    const malformed = { status: 400, json: { code: 'BODY_MALFORMED' } };
    expect(await answerTo(withoutBody)).toEqual(malformed);
    expect(await answerTo({ ...withoutBody, body: null })).toEqual(malformed);
    expect(await answerTo({ httpMethod: 'POST', headers: null, body: '{}' })).toEqual({
      status: 401,
      json: { code: 'SIGNATURE_MISSING' },
    });
    expect(await answerTo({})).toEqual({ status: 405, json: { code: 'METHOD_NOT_ALLOWED' } });
  });
});

import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import type { Adapter } from './adapters.ts';
import { placed, type Delivery, deliveryOf, newSecret, secret, unsignedOf } from './delivery.ts';
import type { CreateReceiver, Mount, Setup } from './setup.ts';
import { Subject } from './subject.ts';

export interface Case {
  readonly name: string;
  readonly setup?: Partial<Setup>;
  /** True if the platform reads bodies itself, so that the receiver does not see what the case sends. */
  readonly streams?: boolean;
  readonly mount?: Mount;
  /** @param fix a part of the line that the log has after the mount `consumed` */
  run(subject: Subject, fix: string): Promise<void>;
}

const token = 'a-token-of-a-test-0123456789';
const unknown = { ...placed, type: 'invoice.archived' };

async function expectStatus(subject: Subject, delivery: Delivery, status: number, content: object): Promise<void> {
  const { status: received, json } = await subject.send(delivery);
  expect({ status: received, json }).toEqual({ status, json: content });
}

async function expectRefused(subject: Subject, delivery: Delivery, status: number, code: string): Promise<void> {
  await expectStatus(subject, delivery, status, { code });
  expect(subject.handled).toEqual([]);
}

function head(url: string, headers: OutgoingHttpHeaders): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([key, value]) => `${key}: ${String(value)}\r\n`);
  return `POST ${new URL(url).pathname} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Opens a connection and writes the head of a request. */
async function open(subject: Subject, headers: OutgoingHttpHeaders): Promise<Socket> {
  const socket = connect(subject.running.port, '127.0.0.1');
  // The server resets the connection of a client that writes after the response.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(head(subject.running.url, headers));
  return socket;
}

/** Whether the response is complete: the length of every body is declared. */
function isComplete(received: string): boolean {
  const [, length] = /^content-length: (\d+)\r$/im.exec(received) ?? [];
  const end = received.indexOf('\r\n\r\n');
  return end >= 0 && received.length >= end + 4 + Number(length);
}

/** Writes to a connection as no HTTP client does, and returns the response. */
async function raw(
  subject: Subject,
  { headers }: Delivery,
  more: Readonly<Record<string, string>>,
  write: (write: (bytes: string | Uint8Array) => Promise<void>, hasAnswer: () => boolean) => Promise<void>,
): Promise<string> {
  const socket = await open(subject, { connection: 'close', ...headers, ...more });
  const answered = Promise.withResolvers<void>();
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString();
    if (isComplete(received)) answered.resolve();
  });
  socket.on('close', () => answered.resolve());
  await write(
    async (bytes) => {
      if (!socket.writable) return;
      socket.write(bytes);
      if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), answered.promise]).catch(() => {});
    },
    () => received.includes('\r\n\r\n') || !socket.writable,
  );
  await answered.promise;
  socket.destroy();
  return received;
}

/** Makes handlers wait. */
function closeGate(subject: Subject): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>();
  subject.work = () => gate.promise;
  return gate;
}

/** Sends a delivery whose handler waits for the gate. */
async function startSlow(subject: Subject, delivery: Delivery) {
  const gate = closeGate(subject);
  let isAnswered = false;
  const answer = subject.send(delivery).finally(() => {
    isAnswered = true;
  });
  // If the case fails first, the connection is closed without a response.
  answer.catch(() => {});
  await eventually(() => expect(subject.handled).toHaveLength(1));
  return { answer, isAnswered: () => isAnswered, gate };
}

export const cases: readonly Case[] = [
  {
    name: 'processes a signed event and passes the event, its id and the unsigned headers',
    async run(subject) {
      await expectStatus(subject, deliveryOf({ id: 'delivery_1' }), 200, { result: 'processed' });
      const headers = { 'x-service-webhook-test': 'true' };
      await expectStatus(subject, deliveryOf({ id: 'delivery_2', headers }), 200, { result: 'processed' });
      const replayed = { 'x-service-webhook-replay': 'true' };
      await expectStatus(subject, deliveryOf({ id: 'delivery_3', headers: replayed }), 200, { result: 'processed' });
      const unsigned = { subscriptionId: 'gid://service/WebhookSubscription/7', sequence: 12, attempt: 3 };
      expect(subject.handled).toMatchObject([
        { event: placed, id: 'delivery_1', unsigned: { ...unsigned, isTest: false, isReplay: false } },
        { event: placed, id: 'delivery_2', unsigned: { ...unsigned, isTest: true, isReplay: false } },
        { event: placed, id: 'delivery_3', unsigned: { ...unsigned, isTest: false, isReplay: true } },
      ]);
      expect(subject.unhandled).toEqual([]);
    },
  },
  {
    name: 'routes by the signed body, not by unsigned headers',
    async run(subject) {
      const headers = { 'x-service-webhook-event': 'webhook.test', 'x-service-webhook-event-version': '2027-02-01' };
      await expectStatus(subject, deliveryOf({ headers }), 200, { result: 'processed' });
      expect(subject.handled).toHaveLength(1);
    },
  },
  {
    name: 'answers an unsigned handshake while there is no secret',
    setup: { secrets: [], awaitingSecret: true },
    async run(subject) {
      const answer = await subject.send(unsignedOf({ verification_token: token }));
      expect(answer).toMatchObject({ status: 200, json: { verification_token: token } });
      expect(answer.headers).toMatchObject({
        'content-type': expect.stringMatching(/^application\/json\b/),
        'x-content-type-options': 'nosniff',
      });
    },
  },
  {
    name: 'answers a verified handshake',
    async run(subject) {
      const delivery = deliveryOf({ body: { verification_token: token } });
      await expectStatus(subject, delivery, 200, { verification_token: token });
    },
  },
  {
    name: 'refuses an unsigned handshake once there is a secret',
    run: (subject) => expectRefused(subject, unsignedOf({ verification_token: token }), 401, 'SIGNATURE_MISSING'),
  },
  {
    name: 'answers an unsigned handshake by option',
    setup: { unverifiedHandshakes: true },
    async run(subject) {
      await expectStatus(subject, unsignedOf({ verification_token: token }), 200, { verification_token: token });
      await expectRefused(subject, unsignedOf(placed), 401, 'SIGNATURE_MISSING');
    },
  },
  {
    name: 'does not return a token that is long or contains HTML',
    setup: { unverifiedHandshakes: true },
    async run(subject) {
      for (const bad of ['a'.repeat(10_240), '<script>alert(1)</script>', 'short', '']) {
        const body = { verification_token: bad };
        const unsigned = await subject.send(unsignedOf(body));
        expect(unsigned).toMatchObject({ status: 401, json: { code: 'SIGNATURE_MISSING' } });
        await expectRefused(subject, deliveryOf({ body }), 400, 'BODY_MALFORMED');
      }
    },
  },
  {
    name: 'responds 503 to an event while there is no secret',
    setup: { secrets: [], awaitingSecret: true },
    run: (subject) => expectRefused(subject, deliveryOf(), 503, 'SECRET_MISSING'),
  },
  {
    name: 'answers no handshake if the secret is missing by mistake',
    setup: { secrets: [], loadsSecrets: true },
    async run(subject) {
      await expectRefused(subject, unsignedOf({ verification_token: token }), 503, 'SECRET_MISSING');
      await expectRefused(subject, deliveryOf(), 503, 'SECRET_MISSING');
    },
  },
  {
    name: 'responds 405 to other methods',
    async run(subject) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, headers, json } = await subject.send({ ...deliveryOf(), method });
        expect({ status, allow: headers['allow'], json }).toEqual({
          status: 405,
          allow: 'POST',
          json: { code: 'METHOD_NOT_ALLOWED' },
        });
      }
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'accepts 300,000 bytes',
    async run(subject) {
      const padding = ' '.repeat(300_000 - Buffer.byteLength(JSON.stringify(placed)));
      const delivery = deliveryOf({ body: JSON.stringify(placed) + padding });
      expect(delivery.body).toHaveLength(300_000);
      await expectStatus(subject, delivery, 200, { result: 'processed' });
    },
  },
  {
    name: 'responds 413 to 300,001 bytes',
    async run(subject) {
      const delivery = deliveryOf({ body: JSON.stringify(placed) + ' '.repeat(300_000) });
      const body = delivery.body.subarray(0, 300_001);
      const received = await raw(subject, delivery, { 'content-length': String(body.byteLength) }, (write) =>
        write(body),
      );
      expect(received).toMatch(/^HTTP\/1\.1 413 [^]*"BODY_TOO_LARGE"/);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'responds 413 to a body that is too large before it ends',
    streams: true,
    async run(subject) {
      const declared = await raw(
        subject,
        deliveryOf(),
        { 'content-length': String(2 ** 30) },
        async (write, hasAnswer) => {
          await write(Buffer.alloc(1000, ' '));
          await eventually(() => expect(hasAnswer()).toBe(true));
        },
      );
      expect(declared).toMatch(/^HTTP\/1\.1 413 /);
      const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
      // The server has no more to read: data after its end of the connection could reset it before the response is read.
      const chunked = await raw(subject, deliveryOf(), { 'transfer-encoding': 'chunked' }, async (write, hasAnswer) => {
        for (let bytes = 0; bytes <= 300_000; bytes += 0x10000) await write(chunk);
        await eventually(() => expect(hasAnswer()).toBe(true));
      });
      expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'refuses a changed body',
    async run(subject) {
      const delivery = deliveryOf();
      const body = Buffer.from(Buffer.from(delivery.body).toString().replace('4711', '4712'));
      await expectRefused(subject, { ...delivery, body }, 401, 'SIGNATURE_MISMATCH');
    },
  },
  {
    name: 'refuses the signature of another secret, and a request without a signature',
    async run(subject) {
      await expectRefused(subject, deliveryOf({ secret: newSecret }), 401, 'SIGNATURE_MISMATCH');
      await expectRefused(subject, unsignedOf(placed), 401, 'SIGNATURE_MISSING');
    },
  },
  {
    name: 'refuses a request that was signed 10 minutes ago or ahead',
    async run(subject) {
      await expectRefused(subject, deliveryOf({ ageSeconds: 600 }), 401, 'TIMESTAMP_TOO_OLD');
      await expectRefused(subject, deliveryOf({ ageSeconds: -600 }), 401, 'TIMESTAMP_TOO_NEW');
    },
  },
  {
    name: 'refuses doubled headers',
    async run(subject) {
      const delivery = deliveryOf();
      for (const name of ['webhook-signature', 'webhook-id', 'x-service-webhook-signature']) {
        const value = String(delivery.headers[name]);
        await expectRefused(
          subject,
          { ...delivery, headers: { ...delivery.headers, [name]: [value, value] } },
          401,
          'HEADER_MALFORMED',
        );
      }
    },
  },
  {
    name: 'refuses a header that occurs in two spellings',
    async run(subject) {
      const delivery = deliveryOf();
      const { body, headers } = delivery;
      const more = { 'Webhook-Id': String(headers['webhook-id']), 'content-length': String(body.byteLength) };
      const received = await raw(subject, delivery, more, (write) => write(body));
      expect(received).toMatch(/^HTTP\/1\.1 401 [^]*"HEADER_MALFORMED"/);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'refuses half a scheme',
    async run(subject) {
      for (const name of ['webhook-timestamp', 'webhook-signature', 'webhook-id', 'x-service-webhook-signature']) {
        const { headers, ...rest } = deliveryOf();
        await expectRefused(subject, { ...rest, headers: { ...headers, [name]: undefined } }, 401, 'HEADER_MISSING');
      }
    },
  },
  {
    name: 'responds 400 to an event without webhook-id',
    async run(subject) {
      const { headers, ...rest } = deliveryOf();
      const kept = Object.entries(headers).filter(([name]) => !name.startsWith('webhook-'));
      await expectRefused(subject, { ...rest, headers: Object.fromEntries(kept) }, 400, 'ID_MISSING');
    },
  },
  {
    name: 'responds 400 to signed bodies that are empty, truncated, malformed or not UTF-8',
    async run(subject) {
      const text = JSON.stringify(placed);
      const invalid = Buffer.from(text.replace('Tea', 'Te?'));
      invalid[invalid.indexOf('?')] = 0xff;
      const bodies = ['', text.slice(0, -1), '[]', 'null', JSON.stringify({ ...placed, data: {} }), invalid];
      for (const body of bodies) await expectRefused(subject, deliveryOf({ body }), 400, 'BODY_MALFORMED');
    },
  },
  {
    name: 'responds 400 to a signed request without a body',
    async run(subject) {
      const received = await raw(subject, deliveryOf({ body: '' }), {}, async () => {});
      expect(received).toMatch(/^HTTP\/1\.1 400 [^]*"BODY_MALFORMED"/);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'verifies the bytes, not their text',
    async run(subject) {
      const signed = Buffer.from(JSON.stringify(placed).replace('Tea', 'Te?'));
      signed[signed.indexOf('?')] = 0xff;
      const other = Buffer.from(signed);
      other[other.indexOf(0xff)] = 0xfe;
      await expectRefused(subject, { ...deliveryOf({ body: signed }), body: other }, 401, 'SIGNATURE_MISMATCH');
      // A parser that serializes the body again loses the white space.
      await expectStatus(subject, deliveryOf({ body: JSON.stringify(placed, null, 3) }), 200, {
        result: 'processed',
      });
    },
  },
  {
    name: 'accepts a byte order mark that is signed',
    run: (subject) =>
      expectStatus(subject, deliveryOf({ body: `\uFEFF${JSON.stringify(placed)}` }), 200, { result: 'processed' }),
  },
  {
    name: 'processes a delivery after a parser that keeps the bytes',
    mount: 'parser',
    run: (subject) => expectStatus(subject, deliveryOf(), 200, { result: 'processed' }),
  },
  {
    name: 'responds 500 and logs the fix in one line after something that consumes the body',
    mount: 'consumed',
    async run(subject, fix) {
      await expectRefused(subject, deliveryOf(), 500, 'BODY_NOT_RAW');
      const logged = await subject.running.logged();
      expect(logged).toHaveLength(1);
      expect(logged[0]).toMatch(/^BODY_NOT_RAW: [^\n]*$/);
      expect(logged[0]).toContain(fix);
    },
  },
  {
    name: 'accepts each media type',
    async run(subject) {
      for (const type of ['text/plain', 'application/octet-stream', 'application/x-www-form-urlencoded', undefined])
        await expectStatus(subject, deliveryOf({ headers: { 'content-type': type } }), 200, { result: 'processed' });
    },
  },
  {
    name: 'refuses a body that a proxy compressed',
    async run(subject) {
      const { headers, body, ...rest } = deliveryOf();
      const compressed = { ...rest, body: gzipSync(body), headers: { ...headers, 'content-encoding': 'gzip' } };
      await expectRefused(subject, compressed, 401, 'SIGNATURE_MISMATCH');
    },
  },
  {
    name: 'responds 408 to a body that does not arrive',
    streams: true,
    setup: { bodyTimeoutMs: 300 },
    async run(subject) {
      const received = await raw(subject, deliveryOf(), { 'content-length': '500' }, (write) => write('{'));
      expect(received).toMatch(/^HTTP\/1\.1 408 [^]*"BODY_TIMEOUT"/);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'closes the connection if it does not read the whole body',
    streams: true,
    setup: { bodyTimeoutMs: 300 },
    async run(subject) {
      for (const length of ['500', '300001']) {
        const socket = await open(subject, { ...deliveryOf().headers, 'content-length': length });
        let received = '';
        socket.on('data', (chunk: Buffer) => {
          received += chunk.toString();
        });
        socket.write('{');
        await eventually(() => expect(isComplete(received)).toBe(true));
        expect(received).toMatch(/^connection: close\r$/im);
        await eventually(() => expect(socket.closed).toBe(true));
      }
    },
  },
  {
    name: 'responds 408 to a body that arrives too slowly',
    streams: true,
    setup: { bodyTimeoutMs: 300 },
    async run(subject) {
      let received = '';
      // What is written after the server has closed the connection can discard the response before it is read.
      for (let attempt = 0; received === '' && attempt < 5; attempt += 1)
        received = await raw(subject, deliveryOf(), { 'content-length': '200000' }, async (write, hasAnswer) => {
          while (!hasAnswer()) {
            await write(' ');
            await sleep(20);
          }
        });
      expect(received).toMatch(/^HTTP\/1\.1 408 [^]*"BODY_TIMEOUT"/);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'keeps working after clients that disconnect in the middle of a request',
    async run(subject) {
      for (let round = 0; round < 6; round += 1) {
        const isChunked = round % 2 === 1;
        const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': '400' };
        const socket = await open(subject, { ...deliveryOf().headers, ...length });
        socket.write(isChunked ? '5\r\n{' : '{');
        await sleep(10);
        socket.destroy();
      }
      await expectStatus(subject, deliveryOf(), 200, { result: 'processed' });
      expect(subject.handled).toHaveLength(1);
    },
  },
  {
    name: 'finishes the handler of a client that disconnects, so that the retry is a duplicate',
    async run(subject) {
      const delivery = deliveryOf();
      const gate = closeGate(subject);
      const socket = await open(subject, { ...delivery.headers, 'content-length': String(delivery.body.byteLength) });
      socket.write(delivery.body);
      await eventually(() => expect(subject.handled).toHaveLength(1));
      socket.resetAndDestroy();
      // The server notices it meanwhile.
      await sleep(200);
      await expectStatus(subject, delivery, 409, { code: 'BUSY' });
      gate.resolve();
      await eventually(() => expectStatus(subject, delivery, 200, { result: 'duplicate' }));
      expect(subject.handled).toHaveLength(1);
    },
  },
  {
    name: 'acknowledges an unknown type, an unknown version and a known type without a handler',
    async run(subject) {
      const other = { ...placed, version: '2031-01-01' };
      const bodies = [unknown, other, { ...placed, type: 'webhook.test', data: { message: 'A' } }];
      for (const body of bodies) await expectStatus(subject, deliveryOf({ body }), 200, { result: 'unhandled' });
      expect(subject.unhandled).toEqual(bodies);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'finds no handler for names that objects inherit',
    async run(subject) {
      for (const type of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
        for (const version of ['__proto__', 'constructor', '2026-11-01'])
          await expectStatus(subject, deliveryOf({ body: { ...placed, type, version } }), 200, {
            result: 'unhandled',
          });
      expect(subject.unhandled).toHaveLength(12);
      expect(subject.handled).toEqual([]);
    },
  },
  {
    name: 'responds 501 to events without a handler by option',
    setup: { rejectUnhandled: true },
    run: (subject) => expectRefused(subject, deliveryOf({ body: unknown }), 501, 'UNHANDLED'),
  },
  {
    name: 'processes a repeated delivery once',
    async run(subject) {
      const id = 'delivery_2';
      await expectStatus(subject, deliveryOf({ id }), 200, { result: 'processed' });
      await expectStatus(subject, deliveryOf({ id, ageSeconds: 60 }), 200, { result: 'duplicate' });
      expect(subject.handled).toHaveLength(1);
    },
  },
  {
    name: 'processes a delivery again after forget',
    async run(subject) {
      const id = 'delivery_3';
      await expectStatus(subject, deliveryOf({ id }), 200, { result: 'processed' });
      expect(await subject.running.forget([id])).toBe(1);
      await expectStatus(subject, deliveryOf({ id }), 200, { result: 'processed' });
      expect(subject.handled).toHaveLength(2);
    },
  },
  {
    name: 'acknowledges only when the handler has finished, and responds 409 meanwhile',
    async run(subject) {
      const delivery = deliveryOf();
      const { answer, isAnswered, gate } = await startSlow(subject, delivery);
      await expectStatus(subject, delivery, 409, { code: 'BUSY' });
      await sleep(100);
      expect(isAnswered()).toBe(false);
      gate.resolve();
      expect(await answer).toMatchObject({ status: 200, json: { result: 'processed' } });
      await expectStatus(subject, delivery, 200, { result: 'duplicate' });
      expect(subject.handled).toHaveLength(1);
    },
  },
  {
    name: 'responds 500 to a handler that throws, and calls it for the retry',
    async run(subject) {
      const delivery = deliveryOf();
      subject.work = () => {
        throw new Error('The disk is full.');
      };
      await expectStatus(subject, delivery, 500, { code: 'HANDLER_FAILED' });
      expect((await subject.running.logged()).join('\n')).toContain('The disk is full.');
      subject.work = () => {};
      await expectStatus(subject, delivery, 200, { result: 'processed' });
      expect(subject.handled).toHaveLength(2);
    },
  },
  {
    name: 'responds 503 without calling the handler if the store fails',
    setup: { storeFails: true },
    async run(subject) {
      await expectRefused(subject, deliveryOf(), 503, 'STORE_UNAVAILABLE');
      expect((await subject.running.logged()).join('\n')).toContain('connect ECONNREFUSED');
    },
  },
  {
    name: 'responds 500 to a loaded secret with a line feed, and does not log it',
    setup: { secrets: [`${secret}\n`], loadsSecrets: true },
    async run(subject) {
      await expectRefused(subject, deliveryOf(), 500, 'SECRET_INVALID');
      const log = (await subject.running.logged()).join('\n');
      expect(log).toContain('line feed');
      expect(log).not.toContain(secret.slice(6, 20));
    },
  },
  {
    name: 'logs no body, secret or signature',
    async run(subject) {
      subject.unhandledWork = () => {
        throw new Error('The hook failed.');
      };
      subject.work = () => {
        throw new Error('The handler failed.');
      };
      const deliveries = [
        deliveryOf(),
        deliveryOf({ body: unknown }),
        deliveryOf({ body: '{"CRM' }),
        deliveryOf({ ageSeconds: 600 }),
      ];
      for (const delivery of deliveries) await subject.send(delivery);
      const log = (await subject.running.logged()).join('\n');
      expect(log).toMatch(/HANDLER_FAILED[^]*The handler failed\.[^]*HANDLER_FAILED[^]*The hook failed\./);
      expect(log).not.toContain('CRM');
      expect(log).not.toContain(secret.slice(6, 20));
      for (const { headers } of deliveries) {
        expect(log).not.toContain(String(headers['x-service-webhook-signature']));
        expect(log).not.toContain(String(headers['webhook-signature']).slice(3));
      }
    },
  },
  {
    name: 'refuses requests once it is closing, aborts the signal and waits for the handler',
    async run(subject) {
      const id = 'delivery_4';
      const { answer, gate } = await startSlow(subject, deliveryOf({ id }));
      expect(await subject.running.isAborted(id)).toBe(false);
      let isClosed = false;
      const { closed } = await subject.running.close();
      const noticed = closed.finally(() => {
        isClosed = true;
      });
      expect(await subject.running.isAborted(id)).toBe(true);
      await expectStatus(subject, deliveryOf(), 503, { code: 'CLOSING' });
      expect(isClosed).toBe(false);
      gate.resolve();
      await noticed;
      expect(await answer).toMatchObject({ status: 200, json: { result: 'processed' } });
      expect(subject.handled).toHaveLength(1);
    },
  },
];

/** Runs one case against a receiver behind an adapter. Rejects if the receiver does not conform. */
export async function check(checked: Case, adapter: Adapter, create?: CreateReceiver): Promise<void> {
  const { setup = {}, mount = 'plain' } = checked;
  const subject = await Subject.start(adapter, { setup, mount, ...(create === undefined ? {} : { create }) });
  try {
    await checked.run(subject, adapter.fix);
  } finally {
    await subject.stop();
  }
}

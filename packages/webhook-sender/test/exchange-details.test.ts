import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { eventually } from '@deedwire/testing';
import { describe, expect, it } from 'vitest';
import type { DetailsPolicy, ExchangeDetails } from '../src/index.ts';
import { delivery as deliveryTo, secret, sender } from './sender.ts';
import { httpReceiver, listening, rawReceiver } from './test-receivers.ts';

const keptBytes = 16 * 1024;

interface RecordingPolicy extends DetailsPolicy {
  /** What was taken and not returned. */
  readonly used: () => number;
  readonly taken: () => number;
}

function policyThat(keeps: boolean, hasBytes = true): RecordingPolicy {
  let [used, taken] = [0, 0];
  return {
    keeps: () => keeps,
    takeBytes(bytes) {
      taken += 1;
      if (hasBytes) used += bytes;
      return hasBytes;
    },
    returnBytes: (bytes) => void (used -= bytes),
    used: () => used,
    taken: () => taken,
  };
}

const delivery = (url: string, details?: DetailsPolicy) => deliveryTo(url, { details });

/** The details of one attempt, with a policy that keeps everything. */
async function detailsAt(url: string, timeoutMs = 60_000, policy = policyThat(true)) {
  const result = await sender({ timeoutMs }).deliver(delivery(url, policy));
  const { exchange } = result;
  if (exchange === undefined) throw new Error('There are no details.');
  expect(policy.used()).toBe(exchange.responseBody?.length ?? 0);
  return { ...exchange, status: result.responseStatus, error: result.error };
}

/** What is kept of a response with this head and these chunks of a body, which ends when `isEndless` is false. */
const responds = (head: string, chunk: Buffer, chunks = 1) =>
  rawReceiver((socket) => {
    socket.write(`HTTP/1.1 ${head}\r\n\r\n`);
    for (let left = chunks; left > 0; left -= 1) socket.write(chunk);
  });

it('reports what was sent as the receiver got it, and how long each step took', async () => {
  const receiver = await httpReceiver((response) =>
    response.writeHead(500, { 'Content-Type': 'text/plain', 'X-Many': ['a', 'b'] }).end('out of order'),
  );
  const url = receiver.url.replace('127.0.0.1', 'receiver.test');
  const { deliver } = sender({ resolve: async () => ['127.0.0.1'] });
  const [first, second] = [
    await deliver(delivery(url, policyThat(true))),
    await deliver(delivery(url, policyThat(true))),
  ];
  const someMs: unknown = expect.any(Number);
  for (const [index, { exchange }] of [first, second].entries()) {
    const connectingMs = index === 0 ? someMs : null;
    const { rawHeaders = [] } = receiver.requests[index] ?? {};
    expect(exchange).toStrictEqual({
      requestHeaders: rawHeaders,
      remoteAddress: '127.0.0.1',
      dnsMs: connectingMs,
      connectMs: connectingMs,
      tlsMs: null,
      firstByteMs: expect.any(Number),
      responseHeaders: expect.arrayContaining(['content-type', 'text/plain', 'x-many', 'a', 'x-many', 'b']),
      responseBody: Buffer.from('out of order'),
      responseBytes: 12,
    } satisfies Record<keyof ExchangeDetails, unknown>);
    expect(rawHeaders).toContain('webhook-signature');
    expect(JSON.stringify(exchange)).not.toContain(secret.slice('whsec_'.length));
    const firstByteMs = exchange?.firstByteMs ?? 0;
    expect([firstByteMs > 0, firstByteMs <= ([first, second][index]?.durationMs ?? 0) + 1]).toEqual([true, true]);
  }
});

describe('a secret header', () => {
  const token = '4d9f0c62b7e1458a9c3a7f20d86b51e4';
  const secretHeader = { name: 'X-Gateway', value: `Bearer ${token}` };

  it('is sent, and masked in what was sent and what the receiver echoes', async () => {
    const receiver = await httpReceiver((response, { headers }) =>
      response
        .writeHead(500, {
          'x-echo': String(headers['x-gateway']),
          [`x-${token}`]: 'a',
          'x-long': `${'a'.repeat(290)}${token}`,
        })
        .end(JSON.stringify(headers)),
    );
    const { exchange } = await sender().deliver({ ...delivery(receiver.url, policyThat(true)), secretHeader });
    expect(receiver.requests[0]?.headers['x-gateway']).toBe(secretHeader.value);
    const { requestHeaders = [], responseHeaders = [], responseBody } = exchange ?? {};
    expect(requestHeaders[requestHeaders.indexOf('x-gateway') + 1]).toBe('[the request header]');
    expect(responseHeaders[responseHeaders.indexOf('x-echo') + 1]).toBe('[the request header]');
    expect(String(responseBody)).toContain('"x-gateway":"[the request header]"');
    for (const kept of [...requestHeaders, ...responseHeaders, String(responseBody)])
      expect(kept).not.toContain(token.slice(0, 8));
  });

  it('is masked also where a long body is cut, and the body stays within its size', async () => {
    const body = `${'x'.repeat(keptBytes - 20)}${secretHeader.value}${'x'.repeat(100)}`;
    const receiver = await httpReceiver((response) => response.writeHead(500).end(body));
    const { exchange } = await sender().deliver({ ...delivery(receiver.url, policyThat(true)), secretHeader });
    expect(exchange?.responseBody).toHaveLength(keptBytes);
    expect(String(exchange?.responseBody).slice(-20)).toBe('[the request header]');
    expect(exchange?.responseBytes).toBe(body.length);
  });

  it('is masked where a response breaks off', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.end(`HTTP/1.1 500 X\r\ncontent-length: 100\r\n\r\nkey ${token.slice(0, 12)}`);
    });
    const { exchange } = await sender().deliver({ ...delivery(receiver.url, policyThat(true)), secretHeader });
    expect(String(exchange?.responseBody)).toBe('key [the request header]');
  });

  it('is masked in other encodings and shortened, and a compressed body is not kept', async () => {
    const value = 'Bearer q7Zt+Vx9/Kc2Lm8Rw4Hs6Jd1Pn5By0==';
    const respond = [
      JSON.stringify({ got: value }).replaceAll('+', String.raw`\u002B`),
      `<p>${value.replaceAll('=', '&#x3D;')}</p>`,
      `invalid token ${value.slice(7, 24)}...`,
      gzipSync(value, { level: 0 }),
    ];
    const receiver = await httpReceiver((response) => {
      const body = respond[receiver.requests.length - 1];
      if (typeof body !== 'string') response.setHeader('content-encoding', 'gzip');
      response.writeHead(500).end(body);
    });
    const bodies: string[] = [];
    for (let sent = 0; sent < respond.length; sent += 1) {
      const policy = policyThat(true);
      const { exchange } = await sender().deliver({
        ...delivery(receiver.url, policy),
        secretHeader: { name: 'Authorization', value },
      });
      bodies.push(String(exchange?.responseBody));
    }
    expect(bodies).toEqual([
      '{"got":"[the request header]"}',
      '<p>[the request header]</p>',
      'invalid token [the request header]...',
      '[not kept: the body has a Content-Encoding, and can contain the request header]',
    ]);
  });

  it('with a common value is masked where it was sent, and nothing else that was sent', async () => {
    const receiver = await httpReceiver((response) => response.writeHead(500, { connection: 'close' }).end('no entry'));
    for (const value of ['e', 'keep-alive', '1']) {
      const { exchange } = await sender().deliver({
        ...delivery(receiver.url, policyThat(true)),
        secretHeader: { name: 'X-Gateway', value },
      });
      const { requestHeaders = [], responseHeaders, responseBody } = exchange ?? {};
      const sent = receiver.requests.at(-1)?.rawHeaders ?? [];
      const index = sent.indexOf('x-gateway') + 1;
      expect(sent[index]).toBe(value);
      expect(requestHeaders).toEqual(sent.with(index, '[the request header]'));
      expect(responseHeaders?.slice(0, 2)).toEqual(['connection', 'close']);
      expect(String(responseBody)).toBe('no entry');
    }
  });

  it('does not replace a header of the service', async () => {
    const receiver = await httpReceiver((response) => response.end());
    for (const name of ['Webhook-Id', 'Content-Type'])
      await sender().deliver({ ...delivery(receiver.url), secretHeader: { name, value: 'forged' } });
    expect(receiver.requests.map(({ rawHeaders }) => rawHeaders.includes('forged'))).toEqual([false, false]);
  });
});

it('reports nothing, and takes no bytes, of a complete response that the policy does not want', async () => {
  const receiver = await httpReceiver((response) => response.end('ok'));
  const unwanted = policyThat(false);
  for (const policy of [unwanted, undefined])
    expect(await sender().deliver(delivery(receiver.url, policy))).not.toHaveProperty('exchange');
  expect(unwanted.taken()).toBe(0);
});

it('reports an attempt without a complete response, whatever the policy wants', async () => {
  const receiver = await rawReceiver((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nserver: a\r\ncontent-length: 9\r\n\r\nab'),
  );
  // On a machine that stalls, the response can arrive after the deadline.
  await eventually(async () =>
    expect(await sender({ timeoutMs: 2_000 }).deliver(delivery(receiver.url, policyThat(false)))).toMatchObject({
      error: 'TIMEOUT',
      responseStatus: 200,
      exchange: { responseHeaders: ['server', 'a', 'content-length', '9'], responseBody: null, responseBytes: 2 },
    }),
  );
});

it('keeps no body without bytes for it, and says how long it was', async () => {
  const receiver = await httpReceiver((response) => response.writeHead(500).end('text'));
  const policy = policyThat(true, false);
  const { exchange } = await sender().deliver(delivery(receiver.url, policy));
  expect(exchange).toMatchObject({ responseBody: null, responseBytes: 4 });
  expect(policy.taken()).toBe(1);
});

describe('a hostile response', () => {
  it('of 16 MB is kept up to 16 kB and read up to 64 kB', async () => {
    const receiver = await responds(`500 X\r\ncontent-length: ${16 << 20}`, Buffer.alloc(1 << 20, 'x'), 16);
    const details = await detailsAt(receiver.url);
    expect(details).toMatchObject({ status: 500, responseBody: Buffer.alloc(keptBytes, 'x') });
    expect(details.responseBytes).toBeGreaterThanOrEqual(64 * 1024);
    expect(details.responseBytes).toBeLessThan(1 << 20);
  });

  it('with long names and values is cut, and other characters than ASCII are read as UTF-8 or ISO 8859-1', async () => {
    const head = `500 X\r\n${'n'.repeat(120)}: ${'v'.repeat(400)}\r\na: é€\r\ncontent-length: 0`;
    const receiver = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 ${head}\r\nb: `);
      socket.write(Buffer.from([0xe9, 0x0d, 0x0a]));
      // CSI in ISO 8859-1 and in UTF-8, which terminals take as the beginning of an escape sequence.
      socket.write(Buffer.from('c: \u009B2J\r\nd: ', 'latin1'));
      socket.write('\u009B2J\r\n\r\n');
    });
    expect((await detailsAt(receiver.url)).responseHeaders).toEqual([
      `${'n'.repeat(99)}…`,
      `${'v'.repeat(299)}…`,
      'a',
      'é€',
      'content-length',
      '0',
      'b',
      'é',
      'c',
      '\u{FFFD}2J',
      'd',
      '\u{FFFD}2J',
    ]);
  });

  it('that resets the connection in its body returns the bytes that it did not need', async () => {
    const receiver = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 500 X\r\ncontent-length: 100\r\n\r\nabc');
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    const details = await detailsAt(receiver.url);
    expect(details).toMatchObject({ error: 'CONNECTION_FAILED', responseBody: Buffer.from('abc'), responseBytes: 3 });
  });
});

describe('without a response', () => {
  const nothing = { responseHeaders: [], responseBody: null, responseBytes: 0, firstByteMs: null, tlsMs: null };

  it('tells the address that refused the connection', async () => {
    const server = await listening(createServer());
    const url = `http://127.0.0.1:${server.port}/`;
    await server.close();
    expect(await detailsAt(url)).toMatchObject({
      ...nothing,
      error: 'CONNECTION_FAILED',
      remoteAddress: '127.0.0.1',
      connectMs: null,
    });
  });

  it('of a server that is silent has the times until then', async () => {
    const receiver = await rawReceiver(() => {});
    // On a machine that stalls, the connection can open after the deadline.
    await eventually(async () =>
      expect(await detailsAt(receiver.url, 2_000)).toMatchObject({
        ...nothing,
        error: 'TIMEOUT',
        remoteAddress: '127.0.0.1',
        connectMs: expect.any(Number),
      }),
    );
  });

  it('tells nothing of a name that cannot be called but what the error tells', async () => {
    for (const resolve of [async () => ['10.0.0.1'], () => Promise.reject(new Error('ENOTFOUND'))]) {
      const options = { policy: 'public', timeoutMs: 50, resolve } as const;
      const result = await sender(options).deliver(delivery('https://internal.example/a', policyThat(true)));
      expect(result).toMatchObject({ error: 'DNS_FAILED' });
      expect(result.exchange).toStrictEqual({
        ...nothing,
        requestHeaders: expect.arrayContaining(['host', 'internal.example']),
        remoteAddress: null,
        dnsMs: null,
        connectMs: null,
      });
    }
  });

  it('is empty if no request could be built', async () => {
    const result = await sender().deliver({ ...delivery('http://127.0.0.1:1/', policyThat(true)), secret: 'whsec_x' });
    expect(result).toMatchObject({
      error: 'PROTOCOL_ERROR',
      exchange: { ...nothing, requestHeaders: [], remoteAddress: null },
    });
  });
});

import { Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpHandler } from '../src/http/http-server.ts';
import { complete, ok, summary, useRawServers } from './support/raw-servers.ts';

const { start, open, exchange } = useRawServers();

const asClient: HttpHandler = async (request, context) => {
  const refusal = context.authenticated(String(request.headers['x-client']));
  return refusal ? { ...(await ok(request, context)), status: 429 } : ok(request, context);
};
const getAs = (client: string) => `GET / HTTP/1.1\r\nHost: a\r\nX-Client: ${client}\r\n\r\n`;

const get = (path: string) => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const many = (count: number) => Array.from({ length: count }, (_, index) => get(String(index))).join('');
const served = (text: string) => (text.match(/HTTP\/1\.1 200 /g) ?? []).length;

const opener = (port: number) => async (client: string) => {
  const connection = await open(port);
  connection.socket.write(getAs(client));
  await expect.poll(connection.received).toMatch(/^HTTP\/1\.1 200 /);
  return connection;
};

const tooMany: HttpHandler = async (request, context) => ({ ...(await ok(request, context)), status: 429 });

describe('connections', () => {
  test('beyond the total limit close the longest idle connection of the client with most connections', async () => {
    const { port, limited, closed } = await start(asClient, { limits: { connections: 4 } });
    const openAs = opener(port);
    const other = await openAs('other');
    const [first, second, third] = [await openAs('holder'), await openAs('holder'), await openAs('holder')];
    first.socket.write(getAs('holder')); // the second one is idle for longer now
    await expect.poll(first.received).toMatch(/ 200 [^]* 200 /);

    await openAs('newcomer');
    await second.closed;
    expect([other, first, third].map(({ socket }) => socket.closed)).toEqual([false, false, false]);
    expect({ limited, closed }).toEqual({ limited: [], closed: ['total'] });
  });

  test('are never closed during a request: beyond the total limit, a new one is closed if all are in use', async () => {
    const gate = Promise.withResolvers<void>();
    let waiting = 0;
    const handle: HttpHandler = async (request, context) => {
      if (request.headers['x-client'] === 'holder') {
        waiting += 1;
        await gate.promise;
      }
      return asClient(request, context);
    };
    const { port, limited, closed } = await start(handle, { limits: { connections: 2 } });
    const busy = [await open(port), await open(port)];
    for (const { socket } of busy) socket.write(getAs('holder'));
    await expect.poll(() => waiting).toBe(2);
    expect(await (await open(port)).closed).toBe('');
    expect({ limited, closed }).toEqual({ limited: ['total'], closed: [] });

    gate.resolve();
    for (const { received } of busy) await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /);
    await opener(port)('newcomer');
    expect(closed).toEqual(['total']);
  });

  test('of a client beyond its limit get 429 and close while its other ones are in use', async () => {
    const gate = Promise.withResolvers<void>();
    let waiting = 0;
    const handle: HttpHandler = async (request, context) => {
      const response = await asClient(request, context);
      if (response.status === 200 && request.headers['x-client'] === 'holder') {
        waiting += 1;
        await gate.promise;
      }
      return response;
    };
    const { port, limited, closed } = await start(handle, {
      limits: { connectionsPerClient: 2, connectionsPerAddress: 2, clientRefusalDelay: 2000 },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const openAs = opener(port);
    const [first] = [await open(port), await open(port)].map((connection) => {
      connection.socket.write(getAs('holder'));
      return connection;
    });
    await expect.poll(() => waiting).toBe(2);
    // Two wait for their refusal. Meanwhile they count for their address, so that the third one is refused at once.
    const refused: string[] = [];
    const ended: string[] = [];
    const refusals: Promise<void>[] = [];
    const openRefused = async (limit: string): Promise<void> => {
      expect(await exchange(port, getAs('holder'))).toMatch(/^HTTP\/1\.1 429 [^]*\r\nConnection: close\r\n/);
      ended.push(limit);
    };
    for (const limit of ['client', 'client', 'address']) {
      refusals.push(openRefused(limit));
      refused.push(limit);
      await expect.poll(() => limited).toEqual(refused);
    }
    await expect.poll(() => ended).toEqual(['address']);
    await vi.advanceTimersByTimeAsync(1999);
    expect(ended).toEqual(['address']);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all(refusals);
    expect({ limited, closed }).toEqual({ limited: refused, closed: [] });
    await openAs('other');
    // A connection counts for the client of its latest request.
    gate.resolve();
    first?.socket.write(getAs('third'));
    await expect.poll(first?.received ?? String).toMatch(/ 200 [^]* 200 /);
    await openAs('holder');
    expect({ limited, closed }).toEqual({ limited: refused, closed: [] });
  });

  test('of a trusted proxy have no limit per client, and are closed after all others', async () => {
    const { port, limited, closed } = await start(asClient, {
      limits: { connections: 6, connectionsPerClient: 1 },
      trusted: '127.0.0.1',
    });
    const openAs = opener(port);
    const held = [];
    for (let count = 0; count < 6; count += 1) held.push(await openAs(count === 0 ? 'other' : 'holder'));
    expect({ limited, closed }).toEqual({ limited: [], closed: [] });
    await openAs('newcomer');
    await held[1]?.closed;
    expect(held.map(({ socket }) => socket.closed)).toEqual([false, true, false, false, false, false]);
    expect({ limited, closed }).toEqual({ limited: [], closed: ['total'] });
  });

  test('beyond the limit of an address get 429, and beyond twice the limit are closed at once', async () => {
    const { port, limited } = await start(ok, { limits: { connectionsPerAddress: 2 } });
    const [first] = [await open(port), await open(port)];
    const refused = [await open(port), await open(port)];
    expect(await (await open(port)).closed).toBe('');
    for (const { socket, closed } of refused) {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(summary(await closed)).toEqual(complete(429, 'RATE_LIMITED'));
    }
    expect(limited).toEqual(['address', 'address', 'address']);
    first?.socket.destroy();
    await first?.closed;
    // A closed connection makes room for another one, once the server has noticed it.
    await expect
      .poll(() => exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))
      .toMatch(/^HTTP\/1\.1 200 /);
  });

  test('of an address do not count for it once a request was authenticated', async () => {
    const { port, limited } = await start(asClient, { limits: { connectionsPerAddress: 1 } });
    for (let count = 0; count < 5; count += 1) await opener(port)('client-1');
    expect(limited).toEqual([]);
  });

  test('of a trusted proxy have no limit per address', async () => {
    const { port, limited } = await start(ok, { limits: { connectionsPerAddress: 1 }, trusted: '127.0.0.1' });
    for (let count = 0; count < 5; count += 1) await opener(port)('none');
    expect(limited).toEqual([]);
  });

  test('are closed after their last request, and when they are idle', async () => {
    const { port } = await start(ok, { limits: { requestsPerConnection: 2 } });
    const request = get('');
    const responses = await exchange(port, request + request + request);
    expect(responses.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(responses).toMatch(/Connection: keep-alive[\s\S]*Connection: close/);

    const idle = await start(ok, { limits: { keepAliveTimeout: 50 } });
    expect(await exchange(idle.port, request)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('are closed when the client does not read its response', async () => {
    const readers: Socket[] = [];
    const servedOn: Socket[] = [];
    const large: HttpHandler = async (request, context) => {
      readers.at(-1)?.pause();
      servedOn.push(request.socket);
      return { ...(await ok(request, context)), body: 'x'.repeat(20_000_000) };
    };
    const { port } = await start(large, { limits: { socketTimeout: 200 } });
    const send = async () => {
      const connection = await open(port);
      readers.push(connection.socket);
      connection.socket.write(get(''));
      await expect.poll(() => servedOn.length > 0 || connection.socket.closed).toBe(true);
      return connection;
    };
    let connection = await send();
    // A process that stalls closes a connection before it reads the request.
    while (servedOn.length === 0) connection = await send();
    await expect.poll(() => servedOn[0]?.destroyed).toBe(true);
    connection.socket.resume();
    await connection.closed;
    expect(connection.received().length).toBeLessThan(20_000_000);
  });
});

describe('pipelined requests', () => {
  test('run 8 at a time without a valid key, in order', async () => {
    const gates: (() => void)[] = [];
    const started: (string | undefined)[] = [];
    const { port } = await start(async (request, context) => {
      started.push(request.url);
      await new Promise<void>((resolve) => gates.push(resolve));
      return ok(request, context);
    });
    const { socket, received } = await open(port);
    // More than the server reads at once.
    const count = 2500;
    socket.write(many(count));
    await expect.poll(() => started).toHaveLength(8);
    let responses = 0;
    while (gates.length > 0 && responses < 40) {
      gates.shift()?.();
      responses += 1;
      await expect.poll(() => served(received())).toBe(responses);
      await expect.poll(() => started.length).toBeGreaterThanOrEqual(8 + responses);
      expect(started).toHaveLength(8 + responses);
    }
    while (responses < count) {
      await expect.poll(() => gates.length, { interval: 1 }).toBeGreaterThan(0);
      for (const release of gates.splice(0)) {
        release();
        responses += 1;
      }
    }
    await expect.poll(() => served(received())).toBe(count);
    expect(started).toEqual(Array.from({ length: count }, (_, index) => `/${index}`));
  });

  test('run 64 at a time once one of them had a valid key', async () => {
    const gate = Promise.withResolvers<void>();
    const started: (string | undefined)[] = [];
    const { port } = await start(async (request, context) => {
      started.push(request.url);
      if (request.url === '/3') context.authenticated('client-1');
      await gate.promise;
      return ok(request, context);
    });
    const { socket, received } = await open(port);
    socket.write(many(100));
    await expect.poll(() => started).toHaveLength(64);
    gate.resolve();
    await expect.poll(() => served(received())).toBe(100);
    socket.write(get('next'));
    await expect.poll(() => served(received())).toBe(101);
  });

  test('do not run after a response 429 to one without a valid key', async () => {
    let handled = 0;
    const { port } = await start(async (request, context) => {
      handled += 1;
      const status = handled > 3 ? 429 : 200;
      return { ...(await ok(request, context)), status };
    });
    const responses = await exchange(port, many(100));
    expect(responses.match(/HTTP\/1\.1 \d+/g)).toEqual([...Array(3).fill('HTTP/1.1 200'), 'HTTP/1.1 429']);
    expect(handled).toBeLessThanOrEqual(12);
  });

  test.each([400, 404, 405, 415])('do not run after a response %i to one without a valid key', async (status) => {
    const { port } = await start(async (request, context) => ({ ...(await ok(request, context)), status }));
    expect((await exchange(port, many(100))).match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`]);
  });

  test.each<[string, HttpHandler, { trusted?: string }]>([
    ['of a trusted proxy', tooMany, { trusted: '127.0.0.1' }],
    ['with a valid key', async (...request) => ({ ...(await asClient(...request)), status: 429 }), {}],
  ])('%s run on after a response 429', async (_, handle, options) => {
    const { port } = await start(handle, options);
    const { socket, received } = await open(port);
    socket.write(many(20));
    await expect.poll(() => received().match(/HTTP\/1\.1 429 /g)).toHaveLength(20);
    expect(received()).not.toContain('Connection: close');
  });
});

test('a connection that the system cannot accept is logged once a second, and the server goes on', async () => {
  const listened = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listened.mockRestore());
  const { port, logged } = await start();
  const handle: unknown = Reflect.get(listened.mock.contexts[0] ?? {}, '_handle');
  if (typeof handle !== 'object' || handle === null) throw new Error('The server has no handle.');
  // As libuv calls it. An error without a listener would be thrown here.
  for (let count = 0; count < 3; count += 1) Reflect.get(handle, 'onconnection').call(handle, -constants.errno.EMFILE);
  expect(logged).toMatchObject([{ msg: 'a connection was not accepted', err: { code: 'EMFILE' } }]);
  const { socket, received } = await open(port);
  socket.write(get('after'));
  await expect.poll(received).toMatch(/^HTTP\/1\.1 200 /);
});

test('a connection that is reset after CONNECT ends no process', async () => {
  const uncaught = recordUncaughtErrors();
  const listened = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listened.mockRestore());
  const { port } = await start();
  const server = listened.mock.contexts[0];
  if (!(server instanceof Server)) throw new Error('No server listens.');
  // When a reset arrives is a matter of chance. It comes right after the request here.
  server.on('connect', (_request: unknown, socket: Socket) => socket.destroy(new Error('read ECONNRESET')));
  await exchange(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await uncaught()).toEqual([]);
  expect(await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
});

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { testService } from '@deedwire/core/test-service';
import { Registry } from 'prom-client';
import { afterEach } from 'vitest';
import { createHttpServer, type HttpHandler, type HttpServer } from '../../src/http/http-server.ts';
import {
  createAlarms,
  createLogger,
  type HttpLimits,
  httpLimits,
  renderRefusal,
  trustedProxiesVariable,
} from '../../src/index.ts';

export const ok: HttpHandler = async () => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: '"ok"',
});

/** On a machine that stalls, the defaults would end connections that a test keeps open, or that wait for their turn. */
const patience = { headersTimeout: 300_000, requestTimeout: 300_000, socketTimeout: 300_000 };

export interface RawServer {
  port: number;
  refused: string[];
  limited: string[];
  /** The limit of each idle connection that was closed. */
  closed: string[];
  logged: Record<string, unknown>[];
}

export interface RawConnection {
  socket: Socket;
  received: () => string;
  /** Everything that arrived. Resolves when the connection is closed. */
  closed: Promise<string>;
}

/** Servers, and connections that send bytes unchanged. Everything is closed after each test of the file that calls this. */
export function useRawServers() {
  const servers: HttpServer[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function start(
    handle: HttpHandler = ok,
    { limits = {}, trusted }: { limits?: Partial<HttpLimits>; trusted?: string } = {},
  ): Promise<RawServer> {
    const refused: string[] = [];
    const limited: string[] = [];
    const closed: string[] = [];
    const logged: Record<string, unknown>[] = [];
    const logger = createLogger(
      { name: 'test', level: 'info', service: testService },
      { write: (line) => logged.push(JSON.parse(line)) },
    );
    const server = createHttpServer({
      handle,
      renderRefusal,
      limits: { ...httpLimits, ...patience, connectionsCheckingInterval: 20, ...limits },
      trustedProxies: trustedProxiesVariable().parse(trusted),
      logger,
      raiseAlarm: createAlarms(new Registry(), logger),
      onRefused: (code) => refused.push(code),
      onConnectionLimit: (limit) => limited.push(limit),
      onIdleConnectionClosed: (limit) => closed.push(limit),
    });
    servers.push(server);
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    return { port, refused, limited, closed, logged };
  }

  async function open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {});
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    await once(socket, 'connect');
    return { socket, received: () => text, closed };
  }

  /** Returns everything that arrives until the server closes the connection. */
  async function exchange(port: number, bytes: string): Promise<string> {
    const { socket, closed } = await open(port);
    socket.write(bytes);
    return closed;
  }

  return { start, open, exchange };
}

/** The status, the code and the headers that every response has. */
export function summary(response: string): object {
  const [head = '', body = ''] = response.split('\r\n\r\n');
  const headers = new Map(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const { code, requestId } = JSON.parse(body).errors[0].extensions;
  return {
    status: Number(head.split(' ')[1]),
    code,
    'cache-control': headers.get('cache-control'),
    'x-content-type-options': headers.get('x-content-type-options'),
    connection: headers.get('connection'),
    isRequestIdTheSame: /^[0-9a-f-]{36}$/.test(requestId) && headers.get('x-request-id') === requestId,
    isLengthCorrect: Number(headers.get('content-length')) === Buffer.byteLength(body),
  };
}

export const complete = (status: number, code: string) => ({
  status,
  code,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'close',
  isRequestIdTheSame: true,
  isLengthCorrect: true,
});

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { errorCode, type ProxyProblem } from './attempt-error.ts';

/** An HTTP proxy that opens tunnels with CONNECT. */
export interface EgressProxy {
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. Null without credentials. */
  readonly authorization: string | null;
}

export class TunnelError extends Error {
  readonly problem: ProxyProblem;

  constructor(problem: ProxyProblem, cause?: unknown) {
    super('The proxy did not open a tunnel.', { cause });
    this.problem = problem;
  }
}

/** @param url `http` or `https`, with or without credentials */
export function egressProxy({ protocol, hostname, port, username, password }: URL): EgressProxy {
  const isSecure = protocol === 'https:';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    isSecure,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

// What a proxy answers if it cannot connect to the receiver: Bad Gateway, Service Unavailable, Gateway Timeout.
const receiverStatuses: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/**
 * Opens a tunnel to a vetted address. The proxy gets no name that it would have to resolve.
 *
 * @throws {TunnelError}
 */
export async function openTunnel(
  proxy: EgressProxy,
  address: string,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const { isSecure, hostname, authorization } = proxy;
  let isAsked = false;
  const problem = (found: string, mayBeReceiver: boolean, cause?: unknown) =>
    new TunnelError({ mayBeReceiver, found: `proxy ${hostname}:${proxy.port}: ${found}` }, cause);

  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  // An import of node:http would load `fetch`, which takes 10 MB of memory.
  const { request: requestOver } = isSecure
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http');
  const request = requestOver({
    method: 'CONNECT',
    host: hostname,
    port: proxy.port,
    path: authority,
    headers: { host: authority, ...(authorization !== null && { 'proxy-authorization': authorization }) },
    // Each tunnel is one connection.
    agent: false,
    ...(isSecure && { minVersion: 'TLSv1.2', rejectUnauthorized: true }),
  });
  request.once('socket', (socket) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      isAsked = true;
    });
  });
  request.once('connect', ({ statusCode }: IncomingMessage, socket: Socket, head: Buffer) => {
    // An error after the deadline would otherwise be an uncaught exception.
    socket.on('error', () => {});
    if (statusCode === undefined || statusCode < 200 || statusCode > 299) {
      socket.destroy();
      reject(problem(`status ${statusCode}`, receiverStatuses.has(statusCode)));
      return;
    }
    // A receiver may speak first.
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  request.on('error', (error) => reject(problem(errorCode(error) || 'the connection failed', isAsked, error)));
  const onAbort = () => {
    reject(problem('no answer', isAsked, signal.reason));
    request.destroy();
  };
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  else request.end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

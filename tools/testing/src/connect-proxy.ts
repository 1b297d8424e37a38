import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { listen, type Listening } from './listen.ts';

export interface ConnectProxyOptions {
  /** Defaults to a free port. */
  port?: number;
  /** With a certificate, the proxy expects TLS. */
  tls?: { key: string; cert: string };
  /** Called for each request. Null answers nothing, and a number other than 200 is the status of the answer. Defaults to 200. */
  status?: (authority: string, request: IncomingMessage) => number | null;
  /** The address to which a tunnel leads. Defaults to that of the request. */
  target?: (authority: string) => { host: string; port: number };
}

export interface ConnectProxy extends Listening {
  url: string;
  /** The `host:port` of each request, in order. */
  authorities: string[];
}

/** An HTTP proxy that opens tunnels with CONNECT, and serves nothing else. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { port = 0, tls, status = () => 200, target = addressOf } = options;
  const server: Server = tls === undefined ? createHttpServer() : createHttpsServer(tls);
  const authorities: string[] = [];
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    const authority = request.url ?? '';
    authorities.push(authority);
    client.on('error', () => {});
    const answer = status(authority, request);
    if (answer === null) {
      // Otherwise the connection stays half open.
      client.resume().on('end', () => client.end());
      return;
    }
    if (answer !== 200) {
      client.end(`HTTP/1.1 ${answer} Refused\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const upstream = connect(target(authority));
    let isOpen = false;
    upstream.once('connect', () => {
      isOpen = true;
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => (isOpen ? client.destroy() : client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')));
    upstream.on('close', () => isOpen && client.destroy());
    client.on('close', () => upstream.destroy());
  });
  const listening = await listen(server, port);
  return { ...listening, authorities, url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listening.port}` };
}

function addressOf(authority: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${authority}`);
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) };
}

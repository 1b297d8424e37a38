import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';
import { listen, startReceiver, type Listening, type Receiver, type Respond } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';

export const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** A key or certificate of the folder `certificates`. */
export const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');

/** Starts a server. It is closed, with all its connections, when the test has finished. */
export function listening(server: Server): Promise<Listening> {
  return forTest(listen(server));
}

/** A receiver that is an ordinary HTTP server and responds to handshakes as to deliveries. */
export function httpReceiver(respond: Respond): Promise<Receiver> {
  const path = '/hooks?tenant=1';
  return forTest(startReceiver({ path, onHandshake: respond, onDelivery: respond }));
}

/**
 * A receiver that writes any bytes to the socket, valid HTTP or not.
 *
 * @param onData called for each chunk that arrives, with the number of its connection, starting at 1
 */
export async function rawReceiver(onData: (socket: Socket, connection: number) => void) {
  let count = 0;
  const server = createServer((socket) => {
    const connection = (count += 1);
    socket.on('data', () => onData(socket, connection));
  });
  const started = await listening(server);
  return { ...started, url: `http://127.0.0.1:${started.port}/hook` };
}

/** A receiver with TLS that responds 200 to whatever arrives. Its certificate is that of `receiver.test`, unless another is given. */
export function tlsReceiver(options: TlsOptions = {}, onConnection: (socket: TLSSocket) => void = () => {}) {
  const server = createTlsServer({ key: pem('receiver-key'), cert: pem('receiver'), ...options }, (socket) => {
    onConnection(socket);
    socket.on('error', () => {}).on('data', () => socket.write(ok));
  });
  server.on('tlsClientError', () => {});
  return listening(server);
}

/** Calls `act` every `ms` until the socket has closed. */
export function every(ms: number, socket: Socket, act: () => void): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : act()), ms);
}

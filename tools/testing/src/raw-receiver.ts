import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

export interface Receiver {
  port: number;
  url: string;
  /** All connections that were accepted. */
  connections: Socket[];
}

/** Starts the server. It is closed with all its connections when the test finishes. */
export async function listening(server: Server): Promise<Receiver> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of connections) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return { port: address.port, url: `http://127.0.0.1:${address.port}/hooks?tenant=1`, connections };
}

/** Starts a receiver that is an HTTP server. */
export async function httpReceiver(
  respond: (response: ServerResponse, request: ReceivedRequest) => void,
): Promise<Receiver & { requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createHttpServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const { method = '', url: path = '', headers, rawHeaders } = message;
      const request = { method, path, headers, rawHeaders, body: Buffer.concat(chunks) };
      requests.push(request);
      respond(response, request);
    });
  });
  return { ...(await listening(server)), requests };
}

/** Starts a receiver that can send any bytes. Calls `onRequest` for each chunk of data that arrives. */
export async function rawReceiver(onRequest: (socket: Socket, connection: number) => void): Promise<Receiver> {
  let count = 0;
  return listening(
    createTcpServer((socket) => {
      count += 1;
      const connection = count;
      socket.on('data', () => onRequest(socket, connection));
    }),
  );
}

/** Calls `act` every `ms` milliseconds until the socket is closed. */
export function every(ms: number, socket: Socket, act: () => void): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : act()), ms);
}

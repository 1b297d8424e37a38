import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Forwards connections to a server while it is open. */
export interface TcpProxy {
  /** The URL of the server, with the host and port of the proxy. */
  url: string;
  /** Accepts connections again, on the same port. */
  open(): Promise<void>;
  /** Destroys all connections and refuses new ones. */
  close(): Promise<void>;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no TCP port.');
  const { port } = address;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async close() {
      if (!server.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

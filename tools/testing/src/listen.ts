import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

export interface Listening {
  port: number;
  /** All accepted connections, including closed ones. */
  connections: Socket[];
  /** Destroys all connections and stops listening. */
  close(): Promise<void>;
}

/** Starts a server. Port 0 is a free port. */
export async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<Listening> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    // A peer that resets the connection must not end the test process.
    socket.on('error', () => {});
  });
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP port.');
  return {
    port: address.port,
    connections,
    async close() {
      for (const socket of connections) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Passes the connections to an address on to a port of 127.0.0.1. Port 0 is a free port. */
export async function relay(address: string, targetPort: number, port = 0) {
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(targetPort, '127.0.0.1');
    for (const [socket, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await once(server.listen(port, address), 'listening');
  const listening = server.address();
  if (listening === null || typeof listening === 'string') throw new Error('The relay has no port.');
  return {
    port: listening.port,
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The network between a cell and all that is elsewhere. */
export interface Link {
  /** Passes the connections to a port on to another one. */
  pass(port: number, targetPort: number): Promise<void>;
  /** Nothing passes until `heal`, in either direction. Connections stay open, and new ones get no answer. */
  cut(): void;
  heal(): void;
  close(): void;
}

export function createLink(): Link {
  const closing: (() => void)[] = [];
  /** Connections, each with the one that it is passed on by. */
  const joined = new Map<Socket, Socket>();
  let isCut = false;
  /** Connections to open and to close once the link is healed. */
  let waiting: (() => void)[] = [];
  const send = (work: () => void): void => void (isCut ? waiting.push(work) : work());
  const join = (socket: Socket, other: Socket): void => {
    joined.set(socket, other);
    socket.pipe(other);
    socket.on('error', () => {});
    socket.once('close', () => {
      joined.delete(socket);
      send(() => other.destroy());
    });
  };
  return {
    async pass(port, targetPort) {
      const server = createServer((incoming) => {
        incoming.on('error', () => {});
        send(() => {
          const outgoing = connect(targetPort, '127.0.0.1');
          join(incoming, outgoing);
          join(outgoing, incoming);
        });
      });
      await once(server.listen(port, '127.0.0.1'), 'listening');
      closing.push(() => server.close());
    },
    cut() {
      isCut = true;
      for (const [socket, other] of joined) socket.unpipe(other);
    },
    heal() {
      isCut = false;
      for (const [socket, other] of joined) socket.pipe(other);
      const work = waiting;
      waiting = [];
      for (const go of work) go();
    },
    close() {
      for (const close of closing) close();
      for (const socket of joined.keys()) socket.destroy();
    },
  };
}

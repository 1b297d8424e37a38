import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** A network, over which connections are passed on. */
export interface Link {
  /** Passes the connections to a port on to another one of 127.0.0.1. Resolves with the port: 0 is a free one. */
  pass(targetPort: number, port?: number, address?: string): Promise<number>;
  /** Nothing passes until `heal`, in either direction. Connections stay open, and new ones get no answer. */
  cut(): void;
  heal(): void;
  close(): Promise<void>;
}

export function createLink(): Link {
  const closing: (() => Promise<void>)[] = [];
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
    async pass(targetPort, port, address) {
      const server = createServer((incoming) =>
        send(() => {
          const outgoing = connect(targetPort, '127.0.0.1');
          join(incoming, outgoing);
          join(outgoing, incoming);
        }),
      );
      const listening = await listen(server, port, address);
      closing.push(() => listening.close());
      return listening.port;
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
    async close() {
      for (const socket of joined.keys()) socket.destroy();
      for (const close of closing) await close();
    },
  };
}

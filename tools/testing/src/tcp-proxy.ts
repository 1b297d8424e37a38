import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createMessageReader } from './postgres-messages.ts';

/** Forwards connections to a PostgreSQL server, and breaks them when a test asks for it. */
export interface TcpProxy {
  /** The URL of the server, with the host and port of the proxy. */
  url: string;
  /** Accepts connections again, on the same port. */
  open(): Promise<void>;
  /** Destroys all connections and refuses new ones. */
  close(): Promise<void>;
  /** Destroys all connections. New ones are forwarded. */
  reset(): void;
  /** Forwards nothing more on the open connections, and does not close them: half-open links. New ones are forwarded. */
  hang(): void;
  /**
   * Breaks the connection of the next client that runs a matching statement. Resolves when that has happened.
   *
   * @param matches called with the text of a simple query or the name of a prepared statement
   */
  breakAt(matches: (statement: string) => boolean, fault: StatementFault): Promise<void>;
}

export interface StatementFault {
  /**
   * `before`: the statement does not reach the server. `after`: the server runs the statement, but the client gets no
   * response.
   */
  when: 'before' | 'after';
  /** Runs before the connection is broken. */
  act?: () => Promise<unknown>;
}

interface ArmedFault extends StatementFault {
  matches: (statement: string) => boolean;
  done: () => void;
}

export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const links = new Set<Link>();
  const armed = new Set<ArmedFault>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const link = new Link(client, upstream, (statement) => takeFault(armed, statement));
    links.add(link);
    upstream.on('close', () => links.delete(link));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no TCP port.');
  const { port } = address;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  const reset = (): void => {
    for (const link of links) link.destroy();
  };
  return {
    url: url.href,
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    async close() {
      if (!server.listening) return;
      server.close();
      reset();
      await once(server, 'close');
    },
    reset,
    hang() {
      for (const link of links) link.hang();
    },
    breakAt(matches, fault) {
      const { promise, resolve } = Promise.withResolvers<void>();
      armed.add({ ...fault, matches, done: resolve });
      return promise;
    },
  };
}

function takeFault(armed: Set<ArmedFault>, statement: string): ArmedFault | null {
  for (const fault of armed) {
    if (!fault.matches(statement)) continue;
    armed.delete(fault);
    return fault;
  }
  return null;
}

/** One connection of a client, and the one to the server that belongs to it. */
class Link {
  readonly #client: Socket;
  readonly #upstream: Socket;
  #isHanging = false;
  #breaking: ArmedFault | null = null;

  constructor(client: Socket, upstream: Socket, takeFaultOf: (statement: string) => ArmedFault | null) {
    this.#client = client;
    this.#upstream = upstream;
    const read = createMessageReader();
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}).on('close', () => this.#isHanging || this.destroy());
    }
    client.on('data', (chunk: Buffer) => {
      for (const { bytes, statement } of read(chunk)) {
        if (this.#isHanging) return;
        if (statement !== null && this.#breaking === null) this.#breaking = takeFaultOf(statement);
        if (this.#breaking?.when === 'before') return this.#break(this.#breaking);
        upstream.write(bytes);
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      if (this.#isHanging) return;
      // The client sends one statement at a time, so this is the response to it.
      if (this.#breaking === null) client.write(chunk);
      else this.#break(this.#breaking);
    });
  }

  hang(): void {
    this.#isHanging = true;
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #break(fault: ArmedFault): void {
    this.#isHanging = true;
    void (async () => {
      await fault.act?.();
      this.destroy();
      fault.done();
    })();
  }
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';
import { asksIfReady, createMessageReader, isReady, type Message } from './postgres-messages.ts';

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

export interface StatementFault {
  /**
   * `before`: the statement does not reach the server. `after`: the server has run the statement, but the client gets no
   * response to it.
   */
  when: 'before' | 'after';
  /** Runs before the connection is broken. */
  act?: () => Promise<unknown>;
}

interface ArmedFault extends StatementFault {
  matches: (statement: string) => boolean;
  done: () => void;
}

/** Forwards connections to a PostgreSQL server, and breaks them when a test asks for it. */
export async function startTcpProxy(targetUrl: string) {
  const target = new URL(targetUrl);
  const links = new Set<Link>();
  const armed = new Set<ArmedFault>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const link = new Link(client, upstream, (statement) => takeFault(armed, statement));
    links.add(link);
    upstream.on('close', () => links.delete(link));
  });
  const listening = await listen(server);
  const { port } = listening;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  /** Destroys all connections. New ones are forwarded. */
  const reset = (): void => {
    for (const link of links) link.destroy();
  };
  return {
    /** The URL of the server, with the host and port of the proxy. */
    url: url.href,
    /** Accepts connections again, on the same port. */
    async open(): Promise<void> {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    /** Destroys all connections and refuses new ones. */
    async close(): Promise<void> {
      reset();
      await listening.close();
    },
    reset,
    /** Forwards nothing more on the open connections, and does not close them: half-open links. New ones are forwarded. */
    hang(): void {
      for (const link of links) link.hang();
    },
    /**
     * Breaks the connection of the next client that runs a matching statement. Resolves when that has happened.
     *
     * @param matches called with the text of a simple query or the name of a prepared statement
     */
    breakAt(matches: (statement: string) => boolean, fault: StatementFault): Promise<void> {
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
  /** How often the server was asked whether it is ready, and how often it was. */
  #asked = 1;
  #ready = 0;
  /** The response to the statement at which to break. */
  #breakingResponse = 0;

  constructor(client: Socket, upstream: Socket, takeFaultOf: (statement: string) => ArmedFault | null) {
    this.#client = client;
    this.#upstream = upstream;
    const read = createMessageReader('client');
    const readResponse = createMessageReader('server');
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}).on('close', () => this.#isHanging || this.#end());
    }
    client.on('data', (chunk: Buffer) => {
      for (const message of read(chunk)) {
        if (this.#isHanging) return;
        const { bytes, statement } = message;
        if (statement !== null && this.#breaking === null) {
          this.#breaking = takeFaultOf(statement);
          this.#breakingResponse = this.#asked + 1;
        }
        if (this.#breaking?.when === 'before') return this.#break(this.#breaking);
        if (asksIfReady(message)) this.#asked += 1;
        upstream.write(bytes);
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      client.cork();
      for (const message of readResponse(chunk)) if (!this.#isHanging) this.#respond(message);
      client.uncork();
    });
  }

  hang(): void {
    this.#isHanging = true;
  }

  destroy(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #respond(message: Message): void {
    const isOfBreaking = this.#breaking !== null && this.#ready + 1 === this.#breakingResponse;
    if (isReady(message)) this.#ready += 1;
    if (!isOfBreaking) this.#client.write(message.bytes);
    else if (isReady(message) && this.#breaking !== null) this.#break(this.#breaking);
  }

  #end(): void {
    if (this.#breaking === null) this.destroy();
    else this.#break(this.#breaking);
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

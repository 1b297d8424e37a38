import type { Pool, PoolClient } from 'pg';
import { certificateEnd } from './connect.ts';

/** How often connections that were not used are returned to the pool, which closes them when they are idle for long. */
const returnEveryMs = 1000;

/** How many connections of a pool are open, and how many requests wait for one. */
export interface PoolState {
  readonly inUse: number;
  readonly idle: number;
  readonly waiting: number;
  /** Of the certificate that the server presented last. Null without TLS, or before the first connection. */
  readonly certificateEndsAt: Date | null;
}

/**
 * Keeps connections between statements. The pool has listeners and timers for each use of a connection, which take longer than
 * many a statement.
 */
export class KeptClients {
  readonly #pool: Pool;
  readonly #onError: (error: Error) => void;
  /** Not in use. The one that was used last is the last one. */
  #kept: PoolClient[] = [];
  /** How many of the kept connections were not used since the last time. */
  #unused = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new WeakMap<PoolClient, (error: Error) => void>();
  readonly #broken = new WeakSet<PoolClient>();
  #certificateEndsAt: Date | null = null;

  /** @param onError called when a connection breaks that is not in use */
  constructor(pool: Pool, onError: (error: Error) => void) {
    this.#pool = pool;
    this.#onError = onError;
  }

  /** Rejects as the pool does. */
  take(): PoolClient | Promise<PoolClient> {
    const client = this.#kept.pop();
    if (client === undefined) return this.#connect();
    this.#unused = Math.min(this.#unused, this.#kept.length);
    return client;
  }

  async #connect(): Promise<PoolClient> {
    const client = await this.#pool.connect();
    this.#certificateEndsAt = certificateEnd(client);
    const onError = (error: Error): void => {
      this.#broken.add(client);
      const index = this.#kept.indexOf(client);
      if (index === -1) return; // its user notices
      this.#kept.splice(index, 1);
      this.#unused = Math.min(this.#unused, this.#kept.length);
      this.#return(client, true);
      this.#onError(error);
    };
    client.on('error', onError);
    this.#listeners.set(client, onError);
    return client;
  }

  /** @param isBroken closes the connection */
  give(client: PoolClient, isBroken: boolean): void {
    const isClosing = isBroken || this.#broken.has(client) || this.#pool.ending;
    if (isClosing || this.#pool.waitingCount > 0) {
      this.#return(client, isClosing);
      return;
    }
    this.#kept.push(client);
    this.#timer ??= setTimeout(() => this.#returnUnused(), returnEveryMs).unref();
  }

  #return(client: PoolClient, isBroken: boolean): void {
    const listener = this.#listeners.get(client);
    if (listener) client.off('error', listener);
    client.release(isBroken);
  }

  #returnUnused(): void {
    const unused = this.#kept.splice(0, this.#unused);
    for (const client of unused) this.#return(client, false);
    this.#unused = this.#kept.length;
    this.#timer = this.#kept.length === 0 ? undefined : setTimeout(() => this.#returnUnused(), returnEveryMs).unref();
  }

  /** Connections that are open, and requests that wait for one. */
  state(): PoolState {
    const idle = this.#pool.idleCount + this.#kept.length;
    return {
      inUse: this.#pool.totalCount - idle,
      idle,
      waiting: this.#pool.waitingCount,
      certificateEndsAt: this.#certificateEndsAt,
    };
  }

  /** Releases idle clients. Users release those in use. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const ended = this.#pool.end();
    for (const client of this.#kept) this.#return(client, false);
    this.#kept = [];
    await ended;
  }
}

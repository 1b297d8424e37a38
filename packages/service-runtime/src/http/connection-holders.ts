import { type Linked, LinkedList } from './linked-list.ts';

/** A connection that counts for a holder. Only `ConnectionHolders` changes it. */
export interface HeldConnection<Connection extends HeldConnection<Connection>> extends Linked<Connection> {
  holder: Holder<Connection> | null;
  /** When it became idle, by a monotonic clock. Null while a request is in progress. */
  idleSinceMs: number | null;
}

/** What connections count for: a client, or an address. */
interface Holder<Connection extends HeldConnection<Connection>> extends Linked<Holder<Connection>> {
  readonly key: string;
  /** All connections that count for it. */
  size: number;
  /** Those without a request, the longest idle one first. */
  readonly idle: LinkedList<Connection>;
}

/**
 * Counts connections by holder and finds the one to close when there are too many. Every change takes constant time, and so
 * does finding, except for at most as many steps as the largest holder has connections: a scan of all connections for each
 * new one would be an attack by itself.
 */
export class ConnectionHolders<Connection extends HeldConnection<Connection>> {
  readonly #holders = new Map<string, Holder<Connection>>();
  /** The holders that have an idle connection, by their size. */
  readonly #bySize: LinkedList<Holder<Connection>>[] = [];
  /** No holder with an idle connection is larger. */
  #largest = 0;

  size(key: string): number {
    return this.#holders.get(key)?.size ?? 0;
  }

  /** Counts a connection for a holder, and no longer for the one before. */
  move(connection: Connection, key: string): void {
    this.remove(connection);
    let holder = this.#holders.get(key);
    if (!holder) {
      holder = { key, size: 0, idle: new LinkedList(), previous: null, next: null };
      this.#holders.set(key, holder);
    }
    this.#unlist(holder);
    holder.size += 1;
    connection.holder = holder;
    if (connection.idleSinceMs !== null) holder.idle.append(connection);
    this.#list(holder);
  }

  remove(connection: Connection): void {
    const { holder } = connection;
    if (!holder) return;
    this.#unlist(holder);
    holder.size -= 1;
    connection.holder = null;
    if (connection.idleSinceMs !== null) holder.idle.remove(connection);
    this.#list(holder);
    if (holder.size === 0) this.#holders.delete(holder.key);
  }

  /** @param idleSinceMs not before that of any other connection */
  setIdle(connection: Connection, idleSinceMs: number | null): void {
    const { holder } = connection;
    if (holder) {
      this.#unlist(holder);
      if (connection.idleSinceMs !== null) holder.idle.remove(connection);
      if (idleSinceMs !== null) holder.idle.append(connection);
      this.#list(holder);
    }
    connection.idleSinceMs = idleSinceMs;
  }

  /** The longest idle connection of a holder. */
  longestIdle(key: string): Connection | null {
    return this.#holders.get(key)?.idle.first ?? null;
  }

  /** The longest idle connection of the largest holder that has one. */
  longestIdleOfLargest(): Connection | null {
    while (this.#largest > 0 && !this.#bySize[this.#largest]?.first) this.#largest -= 1;
    return this.#bySize[this.#largest]?.first?.idle.first ?? null;
  }

  #list(holder: Holder<Connection>): void {
    if (!holder.idle.first) return;
    (this.#bySize[holder.size] ??= new LinkedList()).append(holder);
    this.#largest = Math.max(this.#largest, holder.size);
  }

  #unlist(holder: Holder<Connection>): void {
    if (holder.idle.first) this.#bySize[holder.size]?.remove(holder);
  }
}

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addressBlock, type AddressRanges } from '@deedwire/auth';
import { peerAddress } from '../client-address.ts';
import { ConnectionHolders, type HeldConnection } from './connection-holders.ts';
import type { HttpLimits } from './http-limits.ts';

/** The limits of connections: of all, of an address without valid credentials, and of a client. */
export type ConnectionLimit = 'total' | 'address' | 'client';

export interface OpenConnection extends HeldConnection<OpenConnection> {
  readonly socket: Socket;
  readonly isOfProxy: boolean;
  /** The address had as many connections as it may have when this one was opened. */
  readonly isRefused: boolean;
  /** True once a request on it had valid credentials. */
  isAuthenticated: boolean;
  /** Requests without a complete response. */
  requests: number;
}

/** The open connections of a server, and what they count for. */
export interface OpenConnections {
  /** Counts a new connection. Closes it, or an idle one, if there are too many. */
  add(socket: Socket): void;
  /** Undefined if the connection was closed. */
  of(socket: Duplex): OpenConnection | undefined;
  requestStarted(connection: OpenConnection): void;
  requestEnded(connection: OpenConnection): void;
  /**
   * A request on the connection has valid credentials: the connection counts for this client, and no longer for the address or
   * another client. False if the client has too many connections. Nothing has changed then.
   */
  authenticated(connection: OpenConnection, clientId: string): boolean;
  /** Requests without a complete response, of all connections. */
  requestsInFlight(): number;
}

export interface OpenConnectionsOptions {
  /** `headersTimeout` is also how long a refused connection may wait for its first request, which gets the refusal. */
  limits: Pick<HttpLimits, 'connections' | 'connectionsPerAddress' | 'connectionsPerClient' | 'headersTimeout'>;
  trustedProxies: AddressRanges;
  monotonicMs: () => number;
  /** Called for each connection or request that is refused because of a limit. */
  onLimit: (limit: ConnectionLimit) => void;
  /** Called for each idle connection that is closed to make room. */
  onClosed: (limit: ConnectionLimit) => void;
}

/**
 * A client may send its next request on an idle connection at the moment in which the server closes it, and then has no
 * response. That is improbable for a connection that has been idle for this long.
 */
const minIdleMs = 1000;

export function trackConnections(options: OpenConnectionsOptions): OpenConnections {
  const { limits, trustedProxies, monotonicMs, onLimit, onClosed } = options;
  const connections = new WeakMap<Duplex, OpenConnection>();
  /** A proxy sends requests of many clients on a connection, so its connections are closed last and have no other limit. */
  const direct = new ConnectionHolders<OpenConnection>();
  const ofProxies = new ConnectionHolders<OpenConnection>();
  let open = 0;
  let requests = 0;

  const holdersOf = ({ isOfProxy }: OpenConnection) => (isOfProxy ? ofProxies : direct);

  function remove(connection: OpenConnection): void {
    if (!connections.delete(connection.socket)) return;
    holdersOf(connection).remove(connection);
    open -= 1;
    // A response that waits for earlier ones of the connection has no `close` event.
    requests -= connection.requests;
  }

  function close(connection: OpenConnection, limit: ConnectionLimit): void {
    remove(connection);
    connection.socket.destroy();
    onClosed(limit);
  }

  function makeRoom(): boolean {
    const idle = direct.longestIdleOfLargest() ?? ofProxies.longestIdleOfLargest();
    if (!idle) return false;
    close(idle, 'total');
    return true;
  }

  return {
    add(socket) {
      const address = peerAddress(socket);
      const isOfProxy = trustedProxies.includes(address);
      const key = `address ${addressBlock(address)}`;
      const ofAddress = isOfProxy ? 0 : direct.size(key);
      const isRefused = ofAddress >= limits.connectionsPerAddress;
      if (isRefused) onLimit('address');
      if (ofAddress >= 2 * limits.connectionsPerAddress) {
        socket.destroy();
        return;
      }
      if (open >= limits.connections && !makeRoom()) {
        onLimit('total');
        socket.destroy();
        return;
      }
      const connection: OpenConnection = {
        socket,
        isOfProxy,
        isRefused,
        isAuthenticated: false,
        requests: 0,
        holder: null,
        idleSinceMs: monotonicMs(),
        previous: null,
        next: null,
      };
      open += 1;
      connections.set(socket, connection);
      holdersOf(connection).move(connection, key);
      socket.once('close', () => remove(connection));
      if (!isRefused) return;
      const timer = setTimeout(() => socket.destroy(), limits.headersTimeout);
      socket.once('close', () => clearTimeout(timer));
    },

    of: (socket) => connections.get(socket),

    requestStarted(connection) {
      requests += 1;
      connection.requests += 1;
      if (connection.requests === 1) holdersOf(connection).setIdle(connection, null);
    },

    requestEnded(connection) {
      if (!connections.has(connection.socket)) return;
      requests -= 1;
      connection.requests -= 1;
      if (connection.requests === 0) holdersOf(connection).setIdle(connection, monotonicMs());
    },

    authenticated(connection, clientId) {
      if (!connections.has(connection.socket)) return true; // closed meanwhile
      const holders = holdersOf(connection);
      const key = `client ${clientId}`;
      if (connection.holder?.key !== key) {
        if (!connection.isOfProxy && holders.size(key) >= limits.connectionsPerClient) {
          const idle = holders.longestIdle(key);
          if (!idle || idle.idleSinceMs === null || monotonicMs() - idle.idleSinceMs < minIdleMs) {
            onLimit('client');
            return false;
          }
          close(idle, 'client');
        }
        holders.move(connection, key);
      }
      connection.isAuthenticated = true;
      return true;
    },

    requestsInFlight: () => requests,
  };
}

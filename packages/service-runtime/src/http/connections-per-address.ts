import type { Socket } from 'node:net';
import { addressBlock, peerAddress } from '../client-address.ts';
import type { TrustedProxies } from '../trusted-proxies.ts';
import type { HttpLimits } from './http-limits.ts';

/** Counts open connections per address. A connection counts until it closes or has sent a valid API key. */
export interface ConnectionsPerAddress {
  /** Counts a new connection. Closes it if the address has twice as many connections as it may have. */
  add(socket: Socket): void;
  /** True if the address had as many connections as it may have when this one was opened. */
  isRefused(socket: Socket): boolean;
  authenticated(socket: Socket): void;
}

/** @param limits `headersTimeout` is also how long a refused connection may wait for its first request, which gets the refusal */
export function countConnectionsPerAddress(
  { connectionsPerAddress: limit, headersTimeout }: Pick<HttpLimits, 'connectionsPerAddress' | 'headersTimeout'>,
  trustedProxies: TrustedProxies,
  onRefused: () => void,
): ConnectionsPerAddress {
  const counts = new Map<string, number>();
  const counted = new WeakMap<Socket, string>();
  const refused = new WeakSet<Socket>();

  function release(socket: Socket): void {
    const block = counted.get(socket);
    if (block === undefined) return;
    counted.delete(socket);
    const count = (counts.get(block) ?? 1) - 1;
    if (count > 0) counts.set(block, count);
    else counts.delete(block);
  }

  return {
    add(socket) {
      const address = peerAddress(socket);
      if (trustedProxies.includes(address)) return;
      const block = addressBlock(address);
      const count = counts.get(block) ?? 0;
      if (count >= limit) onRefused();
      if (count >= 2 * limit) {
        socket.destroy();
        return;
      }
      counts.set(block, count + 1);
      counted.set(socket, block);
      socket.once('close', () => release(socket));
      if (count < limit) return;
      refused.add(socket);
      const timer = setTimeout(() => socket.destroy(), headersTimeout);
      socket.once('close', () => clearTimeout(timer));
    },
    isRefused: (socket) => refused.has(socket),
    authenticated: release,
  };
}

import { lookup, Resolver } from 'node:dns/promises';
import type { CallbackPolicy } from './callback-policy.ts';

/** Returns all addresses of a host name. Rejects with Node's DNS error. Stops early when the signal is aborted. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Returns the resolver of a policy. `public` uses only DNS. `development` uses the system resolver, so that `localhost`,
 * /etc/hosts and the names of a container network work. The system resolver is unsuitable for production: it cannot be
 * canceled and blocks one of the few threads of libuv.
 */
export function resolverFor(policy: CallbackPolicy): Resolve {
  return policy === 'public' ? dnsResolver() : resolveBySystem;
}

// Two tries end well before the deadline, so that a name server that ignores AAAA queries does not make an IPv4 receiver
// unreachable.
const tryMs = 1000;
const tries = 2;

/** Queries `servers` (`address:port`). Defaults to the name servers of the system. */
export function dnsResolver(servers?: readonly string[]): Resolve {
  return async (hostname, signal) => {
    // One resolver per lookup, because cancel() cancels all lookups of a resolver.
    const resolver = new Resolver({ timeout: tryMs, tries });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = [ipv4, ipv6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
      if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
      return addresses;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const results = await lookup(hostname, { all: true });
  return results.map(({ address }) => address);
}

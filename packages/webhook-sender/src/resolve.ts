import { lookup, Resolver } from 'node:dns/promises';
import type { CallbackPolicy } from './callback-policy.ts';

/** All addresses of a name, at least one; rejects with Node's DNS error. Stops early when the signal is aborted. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * `public` asks DNS and nothing else. `development` asks the system, so that `localhost`, /etc/hosts and the names of a
 * container network work; that cannot be cancelled and holds one of few threads, which only development can afford.
 */
export function resolverFor(policy: CallbackPolicy): Resolve {
  return policy === 'public' ? dnsResolver() : resolveBySystem;
}

// A resolver for each lookup, so that cancelling one does not cancel others. Two tries end well before the deadline:
// a name server that drops AAAA queries must not make an IPv4 receiver unreachable.
const tryMs = 1000;
const tries = 2;

/** Asks `servers` (`address:port`), or those that the machine is configured with. */
export function dnsResolver(servers?: readonly string[]): Resolve {
  return async (hostname, signal) => {
    const resolver = new Resolver({ timeout: tryMs, tries });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
      return addresses;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true });
  return answers.map(({ address }) => address);
}

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import { field } from '../field.ts';
import { type Shell, UsageError } from './shell.ts';

export interface Target {
  readonly url: URL;
  /** Those that were checked: a later look-up could lead to another machine. Undefined if it may. */
  readonly addresses?: LookupAddress[];
  /** The environment, whose proxies lead to another machine. */
  readonly env?: Shell['env'];
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/**
 * Reads a port, `port/path` or a URL.
 *
 * @throws {UsageError} if it is not on this machine, unless `isRemoteAllowed`: what is sent can have effects there
 */
export async function readTarget(text: string, isRemoteAllowed = false, env: Shell['env'] = {}): Promise<Target> {
  const written = /^\d{1,5}(?:\/.*)?$/.test(text) ? `http://localhost:${text}` : text;
  if (!URL.canParse(written) || !/^https?:\/\//i.test(written))
    throw new UsageError('the receiver must be a port, port/path, or a URL such as http://localhost:4005/webhooks.');
  const url = new URL(written);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the URL of the receiver must have no login and no password.');
  const addresses = await localAddresses(url.hostname).catch((error: unknown) => {
    // A proxy can know the name.
    if (isRemoteAllowed) return null;
    throw error;
  });
  if (addresses !== null) return { url, addresses };
  if (isRemoteAllowed) return { url, env };
  throw new UsageError(`${url.hostname} is not this machine. Pass --allow-remote to send requests to it.`);
}

/** The addresses of a host name, or null if it leads to another machine. */
export async function localAddresses(hostname: string): Promise<LookupAddress[] | null> {
  // Many machines resolve it to one address, and a receiver can listen on the other one.
  if (hostname === 'localhost')
    return ['127.0.0.1', '::1'].map((address, index) => ({ address, family: 4 + 2 * index }));
  try {
    const addresses = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true });
    const isLocal = addresses.every(({ address, family }) => loopback.check(address, `ipv${family === 6 ? 6 : 4}`));
    return isLocal ? addresses : null;
  } catch (error) {
    throw new UsageError(`${hostname} is unknown: ${String(field(error, 'code'))}.`, { cause: error });
  }
}

/** Why a request through a proxy fails, as an addition to a message. */
export function proxyHint(env: Shell['env'] = {}): string {
  const hasProxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => env[name]);
  return hasProxy && env['NODE_USE_ENV_PROXY'] !== '1'
    ? '. To use your proxy, set NODE_USE_ENV_PROXY=1 with Node 22.21 or later, or 24.5 or later.'
    : '';
}

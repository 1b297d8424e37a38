import { lookup } from 'node:dns/promises';
import { BlockList } from 'node:net';
import { field } from '../field.ts';
import { UsageError } from './shell.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/**
 * Reads where to send requests: a port, `port/path` or a URL.
 *
 * @throws {UsageError} if it is not on this machine, unless `isRemoteAllowed`: what is sent can have effects there
 */
export async function readTarget(text: string, isRemoteAllowed: boolean): Promise<URL> {
  const written = /^\d{1,5}(?:\/.*)?$/.test(text) ? `http://localhost:${text}` : text;
  if (!URL.canParse(written) || !/^https?:\/\//i.test(written))
    throw new UsageError('the receiver must be a port, port/path, or a URL such as http://localhost:4005/webhooks.');
  const url = new URL(written);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('the URL of the receiver must have no login and no password.');
  if (!isRemoteAllowed && !(await isLocal(url.hostname)))
    throw new UsageError(`${url.hostname} is not this machine. Pass --allow-remote to send requests to it.`);
  return url;
}

/** Whether a host name leads to this machine. */
export async function isLocal(hostname: string): Promise<boolean> {
  try {
    const addresses = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true });
    return addresses.every(({ address, family }) => loopback.check(address, family === 6 ? 'ipv6' : 'ipv4'));
  } catch (error) {
    throw new UsageError(`${hostname} is unknown: ${String(field(error, 'code'))}.`, { cause: error });
  }
}

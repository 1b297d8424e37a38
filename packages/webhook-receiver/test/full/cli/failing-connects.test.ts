import { createServer } from 'node:net';
import { listen } from '@deedwire/testing';
import { type Errno, failConnects, type FailsWhen } from '@deedwire/testing/failing-connects';
import { forTest } from '@deedwire/testing/for-file';
import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { describe, expect, test } from 'vitest';
import { send } from '../../../src/cli/send.ts';
import type { Target } from '../../../src/cli/target.ts';

const [ipv4, ipv6] = ['192.0.2.1', '2001:db8::1'] as const;
const found = (...addresses: string[]): NonNullable<Target['addresses']> =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** Hosts, the addresses that were checked, and those that the message names. */
const receivers: readonly (readonly [host: string, addresses: Target['addresses'], named: readonly string[]])[] = [
  ['receiver.example', found(ipv4), [ipv4]],
  ['receiver.example', found(ipv6), [ipv6]],
  ['receiver.example', found(ipv4, ipv6), [ipv4, ipv6]],
  [ipv4, undefined, [ipv4]],
  [`[${ipv6}]`, undefined, [ipv6]],
];

const codes: readonly Errno[] = [
  'ENETUNREACH',
  'EHOSTUNREACH',
  'EACCES',
  'EADDRNOTAVAIL',
  'EMFILE',
  'EINVAL',
  'ECONNREFUSED',
];
const body = [Buffer.from('{}')];

describe.each<FailsWhen>(['in the same tick', 'later'])('a request whose connection fails %s', (when) => {
  test.each(codes)('with %s names the failure of each address and ends no process', async (code) => {
    const uncaught = recordUncaughtErrors();
    await failConnects(code, when);
    for (const [host, addresses, named] of receivers) {
      for (const [scheme, port] of [
        ['http', 80],
        ['https', 443],
      ]) {
        const url = new URL(`${scheme}://${host}/hook`);
        const answer = await send({ url, ...(addresses && { addresses }) }, { headers: {}, body });
        expect({ url, ...answer }).toMatchObject({ url, status: null, code });
        expect(answer.problem.replaceAll(/ - Local \(.*?\)/g, '')).toBe(
          named.map((address) => `connect ${code} ${address}:${port}`).join('; '),
        );
      }
    }
    expect(await uncaught()).toEqual([]);
  });
});

test('a connection that is reset during the TLS handshake ends no process', async () => {
  const uncaught = recordUncaughtErrors();
  await failConnects('ENETUNREACH', 'in the same tick');
  const server = createServer((socket) => socket.on('data', () => socket.resetAndDestroy()));
  const { port } = await forTest(listen(server));
  for (const addresses of [found('127.0.0.1'), found(ipv6, '127.0.0.1')]) {
    const answer = await send({ url: new URL(`https://localhost:${port}/`), addresses }, { headers: {}, body });
    expect(answer).toMatchObject({ status: null, code: 'ECONNRESET' });
  }
  expect(await uncaught()).toEqual([]);
});

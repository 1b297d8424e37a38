import { type Errno, failConnects, type FailsWhen } from '@deedwire/testing/failing-connects';
import { recordUncaughtErrors } from '@deedwire/testing/uncaught-errors';
import { describe, expect, test } from 'vitest';
import { EgressUnavailableError } from '../src/index.ts';
import { delivery, secret, sender, type TestSender } from './sender.ts';
import { rawReceiver } from './test-receivers.ts';

const [ipv4, otherIpv4, ipv6, otherIpv6] = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2'] as const;

/** What the URL names, and the addresses that the name has. */
const receivers: readonly (readonly [host: string, addresses: readonly string[]])[] = [
  ['receiver.example', [ipv4]],
  ['receiver.example', [ipv6]],
  ['receiver.example', [ipv4, otherIpv4]],
  ['receiver.example', [ipv6, otherIpv6]],
  ['receiver.example', [ipv4, ipv6]],
  [ipv4, []],
  [`[${ipv6}]`, []],
];

async function attempt(created: TestSender, url: string) {
  const { error, cause, responseStatus } = await created.deliver(delivery(url));
  return { error, cause, responseStatus };
}

const noRoute = (host: string, code: string): string =>
  `Could not connect to ${host}: no route leads to its addresses. Check that other networks can reach them. The error is ${code}.`;
const notOpened = (_host: string, code: string): string =>
  `The service could not open a connection. The receiver is not the cause. Try again later. The error is ${code}.`;
const refused = (host: string): string =>
  `Could not connect to ${host}: the connection was refused. Check that the server is running and that no firewall blocks the port.`;

const failures: readonly (readonly [Errno, cause: string, message: (host: string, code: string) => string])[] = [
  ['ENETUNREACH', 'UNREACHABLE', noRoute],
  ['EHOSTUNREACH', 'UNREACHABLE', noRoute],
  // A `prohibit` route, a local firewall, a host without addresses of this family, and a `blackhole` route.
  ['EACCES', 'UNREACHABLE', noRoute],
  ['EPERM', 'UNREACHABLE', noRoute],
  ['EADDRNOTAVAIL', 'UNREACHABLE', noRoute],
  ['EINVAL', 'UNREACHABLE', noRoute],
  ['EMFILE', 'NOT_OPENED', notOpened],
  ['ENOBUFS', 'NOT_OPENED', notOpened],
  ['ECONNREFUSED', 'REFUSED', refused],
];

describe.each<FailsWhen>(['in the same tick', 'later'])('a connection that fails %s', (when) => {
  test.each(failures)('with %s names the network and ends no process', async (code, ...ofLater) => {
    const isOfThisMachine = when === 'in the same tick' && ofLater[0] === 'UNREACHABLE';
    const [cause, message] = isOfThisMachine ? (['NOT_OPENED', notOpened] as const) : ofLater;
    const uncaught = recordUncaughtErrors();
    await failConnects(code, when);
    for (const [host, addresses] of receivers) {
      const created = sender({ resolve: async () => addresses });
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}/hook`;
        expect({ url, ...(await attempt(created, url)) }).toEqual({
          url,
          error: 'CONNECTION_FAILED',
          cause,
          responseStatus: null,
        });
        expect({ url, ...(await created.verify({ url, secret })) }).toEqual({
          url,
          verified: false,
          code: 'VERIFICATION_UNREACHABLE',
          message: message(host, code),
        });
      }
      await created.close();
    }
    expect(await uncaught()).toEqual([]);
  });
});

test('a connection that is reset during the TLS handshake ends no process', async () => {
  const uncaught = recordUncaughtErrors();
  const { port } = await rawReceiver((socket) => socket.resetAndDestroy());
  await failConnects('ENETUNREACH', 'in the same tick');
  // The first address fails in the same tick, so the second one is connected while Node still creates the TLS socket.
  for (const addresses of [['127.0.0.1'], [ipv6, '127.0.0.1']]) {
    const created = sender({ resolve: async () => addresses });
    expect(await attempt(created, `https://receiver.example:${port}/`)).toEqual({
      error: 'TLS_FAILED',
      cause: 'TLS_CLOSED',
      responseStatus: null,
    });
    expect(await created.verify({ url: `https://receiver.example:${port}/`, secret })).toMatchObject({
      code: 'VERIFICATION_UNREACHABLE',
      message: `Could not establish a TLS connection to receiver.example:${port}: the server closed the connection during the TLS handshake.`,
    });
  }
  expect(await uncaught()).toEqual([]);
});

describe.each<FailsWhen>(['in the same tick', 'later'])('a connection to our proxy that fails %s', (when) => {
  test.each(failures.map(([code]) => code))('with %s is not the fault of the receiver', async (code) => {
    const uncaught = recordUncaughtErrors();
    await failConnects(code, when);
    for (const proxyUrl of [`http://${ipv4}:3128`, `https://${ipv4}:3128`, `https://[${ipv6}]:3128`]) {
      const created = sender({ proxyUrl: new URL(proxyUrl), resolve: async () => [otherIpv4, ipv6] });
      for (const url of ['http://receiver.example/', 'https://receiver.example/']) {
        expect(await created.deliver(delivery(url))).toMatchObject({
          error: 'CONNECTION_FAILED',
          cause: 'NOT_OPENED',
          proxyProblem: {
            mayBeReceiver: false,
            found: `proxy ${proxyUrl.replaceAll(/^https?:..|[[\]]/g, '')}: ${code}`,
          },
        });
        await expect(created.verify({ url, secret })).rejects.toThrow(EgressUnavailableError);
      }
    }
    expect(await uncaught()).toEqual([]);
  });
});

test('a tunnel that is reset during the TLS handshake ends no process', async () => {
  const uncaught = recordUncaughtErrors();
  const asked = new Set<number>();
  const proxy = await rawReceiver((socket, connection) => {
    if (asked.has(connection)) socket.resetAndDestroy();
    else socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    asked.add(connection);
  });
  const created = sender({ proxyUrl: new URL(`http://127.0.0.1:${proxy.port}`), resolve: async () => [ipv4] });
  expect(await attempt(created, 'https://receiver.example/')).toEqual({
    error: 'TLS_FAILED',
    cause: 'TLS_CLOSED',
    responseStatus: null,
  });
  expect(await created.verify({ url: 'https://receiver.example/', secret })).toMatchObject({
    code: 'VERIFICATION_UNREACHABLE',
  });
  expect(asked.size).toBe(2);
  expect(await uncaught()).toEqual([]);
});

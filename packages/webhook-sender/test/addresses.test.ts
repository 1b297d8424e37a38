import { describe, expect, it } from 'vitest';
import type { Resolve } from '../src/index.ts';
import { vettedAddresses } from '../src/vetted-addresses.ts';
import { delivery, secret, sender } from './sender.ts';
import { httpReceiver } from './test-receivers.ts';

function dnsError(code: string): Resolve {
  return () => Promise.reject(Object.assign(new Error('queryA'), { code }));
}

const publicName = 'https://receiver.example/';
const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;
const denied = { includes: (address: string) => address === '9.9.9.9' };

describe('under the public policy', () => {
  const unusable: [string, Resolve][] = [
    ['ENOTFOUND', dnsError('ENOTFOUND')],
    ['ENODATA', dnsError('ENODATA')],
    ['ENODATA', resolvesTo()],
    ['no error code', () => Promise.reject(new Error('no code'))],
    ['ETIMEOUT', () => new Promise(() => {})],
    ['10.0.0.1 is not public', resolvesTo('10.0.0.1', '10.0.0.2')],
    ['169.254.169.254 is not public', resolvesTo('169.254.169.254')],
    ['::ffff:127.0.0.1 is not public', resolvesTo('::ffff:127.0.0.1')],
    ['fe80::1%lo is not public', resolvesTo('fe80::1%lo')],
    ['not an address is not public', resolvesTo('not an address')],
    ['9.9.9.9 is denied', resolvesTo('9.9.9.9')],
  ];

  it.each(unusable)(
    'gives clients one answer for a name, and the operator what was found: %s',
    async (found, resolve) => {
      const options = { policy: 'public', timeoutMs: 50, deniedRanges: denied, resolve } as const;
      expect(await sender(options).deliver(delivery(publicName))).toStrictEqual({
        startedAt: expect.any(Date),
        durationMs: expect.any(Number),
        responseStatus: null,
        error: 'DNS_FAILED',
        retryAfter: null,
        hostProblem: { host: 'receiver.example', found },
      });

      const handshake = await sender(options).verify({ url: publicName, secret });
      expect(handshake).toStrictEqual({
        verified: false,
        code: 'VERIFICATION_UNREACHABLE',
        message:
          'Could not resolve receiver.example to public addresses. Check its spelling and its A and AAAA records: the name must exist in public DNS, and at least one of its addresses must be public.',
        hostProblem: { host: 'receiver.example', found },
      });
    },
  );

  it.each([['8.8.8.8', '127.0.0.1'], ['10.0.0.1', '9.9.9.9', '8.8.8.8'], ['8.8.8.8']])(
    'connects to the public ones of the addresses of a name: %j',
    async (...addresses) => {
      const rules = { policy: 'public', deniedRanges: denied } as const;
      const { signal } = new AbortController();
      expect(await vettedAddresses(new URL(publicName), rules, resolvesTo(...addresses), signal)).toEqual(['8.8.8.8']);
    },
  );

  it.each([
    [
      ['1.1.1.1', '8.8.8.8', '8.8.4.4', '1.0.0.1', '2606:4700::1111'],
      ['1.1.1.1', '2606:4700::1111', '8.8.8.8', '8.8.4.4'],
    ],
    [
      ['2606:4700::1', '2606:4700::2', '8.8.8.8'],
      ['2606:4700::1', '8.8.8.8', '2606:4700::2'],
    ],
    [
      ['8.8.8.8', '10.0.0.1', '64:ff9b::a00:1', '64:ff9b::808:808'],
      ['8.8.8.8', '64:ff9b::808:808'],
    ],
  ])('takes an address of each family in turn from %j', async (addresses, expected) => {
    const rules = { policy: 'public', deniedRanges: denied } as const;
    const { signal } = new AbortController();
    expect(await vettedAddresses(new URL(publicName), rules, resolvesTo(...addresses), signal)).toEqual(expected);
  });

  it('does not answer sooner for a name that resolves to a private address', async () => {
    const answers = [dnsError('ENOTFOUND'), resolvesTo(), resolvesTo('10.0.0.1')];
    const durationsMs = await Promise.all(
      answers.map(async (resolve) => {
        const { durationMs } = await sender({ policy: 'public', resolve }).deliver(delivery(publicName));
        return durationMs;
      }),
    );
    // A timer counts from the start of the turn of the event loop that sets it, so it ends some milliseconds early after a busy one.
    for (const durationMs of durationsMs) expect(durationMs).toBeGreaterThan(900);
  });

  it.each(['https://127.0.0.1/', 'http://8.8.8.8/', 'https://9.9.9.9/', 'nonsense'])(
    'rejects %s at every attempt without resolving it',
    async (url) => {
      let resolved = 0;
      const { deliver } = sender({
        policy: 'public',
        deniedRanges: denied,
        resolve: async () => {
          resolved += 1;
          return ['8.8.8.8'];
        },
      });
      expect(await deliver(delivery(url))).toMatchObject({ error: 'URL_FORBIDDEN' });
      expect(resolved).toBe(0);
    },
  );

  it('vets a name again for every attempt that connects', async () => {
    // A public but unassigned address at registration, then a rebound name.
    const results = [['2000::1'], ['127.0.0.1']];
    const { deliver } = sender({ policy: 'public', timeoutMs: 50, resolve: async () => results.shift() ?? [] });
    expect((await deliver(delivery('https://receiver.example/'))).error).toMatch(
      /^(?:TIMEOUT|CONNECTION_FAILED|TLS_FAILED)$/,
    );
    expect(await deliver(delivery('https://receiver.example/'))).toMatchObject({
      error: 'DNS_FAILED',
      hostProblem: { found: '127.0.0.1 is not public' },
    });
  });
});

describe('the connection', () => {
  it('goes only to the vetted address, with the name in the Host header', async () => {
    const receiver = await httpReceiver((response, { body }) => response.end(body));
    const resolved: string[] = [];
    // No other resolver resolves this name, so a second lookup would fail.
    const { verify } = sender({
      resolve: async (hostname) => {
        resolved.push(hostname);
        return ['127.0.0.1'];
      },
    });
    expect(await verify({ url: `http://receiver.invalid:${receiver.port}/`, secret })).toStrictEqual({
      verified: true,
    });
    expect(resolved).toEqual(['receiver.invalid']);
    expect(receiver.requests[0]?.headers.host).toBe(`receiver.invalid:${receiver.port}`);
  });

  it('goes to the next address when one does not accept it', async () => {
    const receiver = await httpReceiver((response) => response.end());
    const { deliver } = sender({ resolve: async () => ['127.0.0.2', '::1', '127.0.0.1'] });
    expect(await deliver(delivery(`http://receiver.invalid:${receiver.port}/`))).toMatchObject({ responseStatus: 200 });
  });

  it('does not use the resolver for an IP address', async () => {
    const receiver = await httpReceiver((response) => response.end());
    const { deliver } = sender({ resolve: dnsError('ENOTFOUND') });
    expect(await deliver(delivery(receiver.url))).toMatchObject({ responseStatus: 200 });
  });

  it('resolves localhost in development', async () => {
    const receiver = await httpReceiver((response) => response.end());
    expect(await sender().deliver(delivery(`http://localhost:${receiver.port}/`))).toMatchObject({
      responseStatus: 200,
    });
  });
});

it('does not connect to a denied range under the development policy either', async () => {
  const receiver = await httpReceiver((response) => response.end());
  const deniedRanges = { includes: (address: string) => address === '127.0.0.1' };
  const { deliver } = sender({ deniedRanges, resolve: resolvesTo('127.0.0.1') });
  expect(await deliver(delivery(`http://receiver.invalid:${receiver.port}/`))).toMatchObject({
    error: 'DNS_FAILED',
    hostProblem: { host: 'receiver.invalid', found: '127.0.0.1 is denied' },
  });
  expect(await deliver(delivery(receiver.url))).toMatchObject({ error: 'URL_FORBIDDEN' });
  expect(receiver.connections).toEqual([]);
});

describe('a name that cannot be resolved under the development policy', () => {
  it.each([
    [dnsError('ENOTFOUND'), 'the name does not exist. Check its spelling and its DNS records'],
    [dnsError('ENODATA'), 'the name has no address. Add an A or AAAA record'],
    [dnsError('ETIMEOUT'), 'its name servers did not respond'],
    [dnsError('ESERVFAIL'), 'its name servers reported a failure'],
    [dnsError('EREFUSED'), 'its name servers refused the query'],
    [dnsError('EBADNAME'), 'the name is not a valid DNS name'],
    [dnsError('EWHATEVER'), 'the lookup failed (EWHATEVER)'],
    [async () => [], 'the name has no address. Add an A or AAAA record'],
  ])('is DNS_FAILED (%#)', async (resolve, why) => {
    const { deliver, verify } = sender({ resolve });
    expect(await deliver(delivery('https://receiver.example/'))).toMatchObject({
      error: 'DNS_FAILED',
      responseStatus: null,
    });
    expect(await verify({ url: 'https://receiver.example/', secret })).toMatchObject({
      verified: false,
      code: 'VERIFICATION_UNREACHABLE',
      message: `Could not resolve receiver.example: ${why}.`,
    });
  });

  it('times out at the deadline even if the resolver does not settle', async () => {
    const signals: AbortSignal[] = [];
    const { verify } = sender({
      timeoutMs: 100,
      resolve: (_hostname, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    expect(await verify({ url: 'https://receiver.example/', secret })).toStrictEqual({
      verified: false,
      code: 'VERIFICATION_TIMEOUT',
      message:
        'The callback URL did not send a complete response within 0.1 s. The name servers of receiver.example did not respond.',
      hostProblem: { host: 'receiver.example', found: 'ETIMEOUT' },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

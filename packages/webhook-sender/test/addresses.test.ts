import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { describe, expect, it } from 'vitest';
import type { Resolve } from '../src/index.ts';
import { sender } from './sender.ts';
import { httpReceiver } from './test-receivers.ts';

const secret = generateWebhookSecret();

function delivery(url: string) {
  return { url, webhookId: 'gid://service/WebhookDelivery/1', body: Buffer.from('{}'), secret, headers: {} };
}

function dnsError(code: string): Resolve {
  return () => Promise.reject(Object.assign(new Error('queryA'), { code }));
}

describe('under the public policy', () => {
  it.each([
    [['127.0.0.1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['fe80::1%lo']],
    [['fd00::1']],
    [['8.8.8.8', '127.0.0.1']],
    [['2606:4700::1111', '8.8.8.8', '1.1.1.1', '9.9.9.9', '8.8.4.4', '10.0.0.1']],
    [['not an address']],
  ])('forbids a name with the addresses %j without revealing them', async (addresses) => {
    const { deliver, verify } = sender({ policy: 'public', resolve: async () => addresses });
    expect(await deliver(delivery('https://receiver.example/'))).toMatchObject({
      error: 'ADDRESS_FORBIDDEN',
      responseStatus: null,
    });
    expect(await verify({ url: 'https://receiver.example/', secret })).toStrictEqual({
      verified: false,
      code: 'CALLBACK_URL_FORBIDDEN',
      message: 'receiver.example resolves to an address that is not public. All its addresses must be public.',
    });
  });

  it.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
    'http://8.8.8.8/',
    'https://localhost/',
    'nonsense',
  ])('rejects %s at every attempt without resolving it', async (url) => {
    let resolved = 0;
    const { deliver } = sender({
      policy: 'public',
      resolve: async () => {
        resolved += 1;
        return ['8.8.8.8'];
      },
    });
    expect(await deliver(delivery(url))).toMatchObject({ error: 'ADDRESS_FORBIDDEN' });
    expect(resolved).toBe(0);
  });

  it('vets a name again for every attempt that connects', async () => {
    // A public but unassigned address at registration, then a rebound name.
    const results = [['2000::1'], ['127.0.0.1']];
    const { deliver } = sender({ policy: 'public', timeoutMs: 50, resolve: async () => results.shift() ?? [] });
    expect((await deliver(delivery('https://receiver.example/'))).error).toMatch(
      /^(?:TIMEOUT|CONNECTION_FAILED|TLS_FAILED)$/,
    );
    expect(await deliver(delivery('https://receiver.example/'))).toMatchObject({ error: 'ADDRESS_FORBIDDEN' });
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

describe('a name that cannot be resolved', () => {
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
    for (const policy of ['public', 'development'] as const) {
      const { deliver, verify } = sender({ policy, resolve });
      expect(await deliver(delivery('https://receiver.example/'))).toMatchObject({
        error: 'DNS_FAILED',
        responseStatus: null,
      });
      expect(await verify({ url: 'https://receiver.example/', secret })).toStrictEqual({
        verified: false,
        code: 'VERIFICATION_UNREACHABLE',
        message: `Could not resolve receiver.example: ${why}.`,
      });
    }
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
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

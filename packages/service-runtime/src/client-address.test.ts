import { describe, expect, test } from 'vitest';
import { noAddresses, trustedProxiesVariable } from './address-ranges.ts';
import { clientAddress } from './client-address.ts';

const proxies = trustedProxiesVariable().parse('10.0.0.0/8, 2001:db8::/32,192.0.2.7');

function addressOf(remoteAddress: string | undefined, headers: Record<string, string> = {}, trusted = proxies): string {
  return clientAddress({ socket: { remoteAddress }, headers }, trusted);
}

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2A00:0:0::1', '2a00::1'],
  ['fe80::1%eth0', 'fe80::1'],
  [undefined, 'unknown'],
])('reads the address of the peer %s', (peer, address) => {
  expect(addressOf(peer)).toBe(address);
});

test('ignores both headers of a peer that is not a trusted proxy', () => {
  const headers = { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '198.51.100.1' };
  expect(addressOf('203.0.113.9', headers)).toBe('203.0.113.9');
  expect(addressOf('10.0.0.1', headers, noAddresses)).toBe('10.0.0.1');
});

describe('behind a trusted proxy', () => {
  test.each([
    ['10.1.2.3', { 'x-forwarded-for': '198.51.100.1' }],
    ['::ffff:10.1.2.3', { 'x-forwarded-for': '198.51.100.1' }],
    ['2001:db8::5', { 'x-forwarded-for': '203.0.113.66, 198.51.100.1, 10.9.9.9, 192.0.2.7' }],
    ['10.1.2.3', { 'x-forwarded-for': '198.51.100.1:4711' }],
    ['10.1.2.3', { 'x-forwarded-for': '::ffff:198.51.100.1' }],
    ['10.1.2.3', { forwarded: 'for=198.51.100.1' }],
    ['10.1.2.3', { forwarded: 'proto=https; For="198.51.100.1:80" ; by=10.1.2.3' }],
    ['10.1.2.3', { forwarded: 'for=203.0.113.66, for=198.51.100.1;proto=http, for="[2001:db8::9]:443"' }],
    ['10.1.2.3', { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '198.51.100.1' }],
  ])('%s: finds the last address that is not a trusted proxy in %o', (peer, headers) => {
    expect(addressOf(peer, headers)).toBe('198.51.100.1');
  });

  test('reads IPv6 addresses', () => {
    expect(addressOf('10.1.2.3', { forwarded: 'for="[2A00::1]:99"' })).toBe('2a00::1');
    expect(addressOf('10.1.2.3', { 'x-forwarded-for': '2a00::1' })).toBe('2a00::1');
  });

  test.each([
    ['no header', {}],
    ['an obfuscated hop', { forwarded: 'for=_hidden' }],
    ['an unknown hop', { forwarded: 'for=unknown' }],
    ['an element without a hop', { forwarded: 'proto=https' }],
    ['garbage', { 'x-forwarded-for': '198.51.100.1, 999.1.1.1' }],
    ['an empty header', { 'x-forwarded-for': '' }],
    ['two headers that disagree', { forwarded: 'for=198.51.100.1', 'x-forwarded-for': '198.51.100.2' }],
  ])('returns the address of the proxy for %s', (_, headers) => {
    expect(addressOf('10.1.2.3', headers)).toBe('10.1.2.3');
  });

  test('returns the outermost proxy when every hop is a trusted proxy', () => {
    expect(addressOf('10.1.2.3', { 'x-forwarded-for': '10.0.0.8, 10.0.0.9' })).toBe('10.0.0.8');
  });
});

test.each(['', 'localhost', '10.0.0.0/33', '10.0.0/8', '2001:db8::/129', '10.0.0.1,,10.0.0.2', '10.0.0.0/8/8', '*'])(
  'rejects "%s" as trusted proxies',
  (text) => {
    expect(trustedProxiesVariable().safeParse(text).success).toBe(false);
  },
);

test('names the entry that is not a subnet', () => {
  const { error } = trustedProxiesVariable().safeParse('10.0.0.0/8,proxy.internal');
  expect(error?.issues[0]?.message).toMatch(/; entry 2 is not$/);
});

test('trusts no proxy by default', () => {
  expect(trustedProxiesVariable().parse(undefined).includes('127.0.0.1')).toBe(false);
});

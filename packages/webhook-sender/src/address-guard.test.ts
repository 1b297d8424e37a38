import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './address-guard.ts';

// A second implementation of the same rules, in plain arithmetic.
const deniedIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

function ipv4Number(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

function inNetwork(address: string, network: string): boolean {
  const [base = '', prefixBits] = network.split('/');
  const size = 2 ** (32 - Number(prefixBits));
  return Math.floor(ipv4Number(address) / size) === Math.floor(ipv4Number(base) / size);
}

function deniedIpv6([first = 0, second = 0]: readonly number[]): boolean {
  if (first < 0x2000 || first > 0x3fff || first === 0x2002) return true;
  if (first === 0x2001) return second < 0x200 || second === 0xdb8;
  return first === 0x3fff && second < 0x1000;
}

describe('isPublicAddress', () => {
  // The first and the last address of each range, and common attempts to bypass the check.
  it.each([
    ['this network', '0.0.0.0 0.255.255.255'],
    ['private', '10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255'],
    ['carrier-grade NAT', '100.64.0.0 100.127.255.255'],
    ['loopback', '127.0.0.0 127.0.0.1 127.255.255.255'],
    ['metadata', '169.254.169.254 168.63.129.16'],
    ['link-local', '169.254.0.0 169.254.255.255'],
    ['protocol assignments', '192.0.0.0 192.0.0.255'],
    ['documentation', '192.0.2.0 192.0.2.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255'],
    ['6to4 relays', '192.88.99.0 192.88.99.255'],
    ['benchmarks', '198.18.0.0 198.19.255.255'],
    ['multicast', '224.0.0.0 239.255.255.255'],
    ['reserved and broadcast', '240.0.0.0 255.255.255.255'],
    ['IPv6 unspecified and loopback', ':: ::1'],
    ['IPv4-compatible', '::127.0.0.1 ::8.8.8.8'],
    ['IPv4-mapped', '::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1'],
    ['IPv4-translated', '::ffff:0:8.8.8.8'],
    ['NAT64', '64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1'],
    ['discard-only', '100::1'],
    ['below 2000::/3', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001::/23 with Teredo', '2001:: 2001:0:7f00:1:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    [
      'IPv6 documentation',
      '2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    ],
    ['6to4', '2002:: 2002:7f00:1:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['above 2000::/3', '4000:: 5f00::1'],
    ['unique-local', 'fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['IPv6 link-local and site-local', 'fe80::1 fec0::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['with a zone', 'fe80::1%eth0 2606:4700::1111%eth0'],
    ['not an address', 'localhost 1 127.1 0x7f000001 8.8.8.8:53 [2606:4700::1111] 8.8.8'],
  ])('rejects %s: %s', (_range, addresses) => {
    for (const address of addresses.split(' ')) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });

  it.each(['', ' ', '8.8.8.8 ', '8.8.8.8\n'])('rejects %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    [
      'before and after denied ranges',
      '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0',
    ],
    [
      'before and after denied ranges',
      '168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0',
    ],
    ['before and after denied ranges', '191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0'],
    [
      'before and after denied ranges',
      '192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0',
    ],
    ['before and after denied ranges', '203.0.112.255 203.0.114.0 223.255.255.255'],
    ['ordinary addresses', '8.8.8.8 2001:4860:4860::8888 2606:4700:4700::1111'],
    [
      'before and after denied ranges of IPv6',
      '2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 3ffe:ffff:: 3fff:1000::',
    ],
  ])('allows %s: %s', (_range, addresses) => {
    for (const address of addresses.split(' ')) expect([address, isPublicAddress(address)]).toEqual([address, true]);
  });

  it('agrees with the arithmetic for any IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(address)).toBe(!deniedIpv4.some((network) => inNetwork(address, network)));
      }),
      { numRuns: Number(process.env['RUNS'] ?? 400) },
    );
  });

  it('agrees with the arithmetic for any spelling of any IPv6 address', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const first = fc.oneof(group, fc.constantFrom(0x2001, 0x2002, 0x2003, 0x3ffe, 0x3fff, 0x2606, 0xfe80, 0, 0x4000));
    const second = fc.oneof(group, fc.constantFrom(0, 0x1ff, 0x200, 0xdb8, 0xdb9, 0xfff, 0x1000, 0xffff));
    fc.assert(
      fc.property(fc.tuple(first, second, group, group, group, group, group, group), (groups) => {
        const full = groups.map((each) => each.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
        for (const address of [full, full.toUpperCase(), short]) {
          expect(isPublicAddress(address)).toBe(!deniedIpv6(groups));
        }
      }),
      { numRuns: Number(process.env['RUNS'] ?? 400) },
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './address-guard.ts';

describe('isPublicAddress', () => {
  it.each([
    // first and last of each range
    ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
    ...[
      '127.0.0.0',
      '127.0.0.1',
      '127.255.255.255',
      '168.63.129.16',
      '169.254.0.0',
      '169.254.169.254',
      '169.254.255.255',
    ],
    ...[
      '172.16.0.0',
      '172.31.255.255',
      '192.0.0.0',
      '192.0.0.255',
      '192.0.2.0',
      '192.0.2.255',
      '192.88.99.0',
      '192.88.99.255',
    ],
    ...['192.168.0.0', '192.168.255.255', '198.18.0.0', '198.19.255.255', '198.51.100.0', '198.51.100.255'],
    ...['203.0.113.0', '203.0.113.255', '224.0.0.0', '239.255.255.255', '240.0.0.0', '255.255.255.255'],
    // IPv6: unspecified, loopback, compatible, mapped, translated, NAT64 (both prefixes), discard-only
    ...['::', '::1', '::127.0.0.1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:8.8.8.8'],
    ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '100::1', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    // Teredo and the rest of 2001::/23, documentation, 6to4, documentation again
    ...[
      '2001::',
      '2001:0:7f00:1::',
      '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
      '2001:db8::',
      '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    ],
    ...[
      '2002::',
      '2002:7f00:1::',
      '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      '3fff::',
      '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    ],
    // unassigned, segment routing, unique-local, link-local, site-local, multicast
    ...[
      '4000::',
      '5f00::1',
      'fc00::',
      'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
    ],
    // a zone on an address that would be fine
    '2606:4700::1111%eth0',
    // not addresses
    ...['', 'localhost', '1', '127.1', '0x7f000001', '8.8.8.8:53', '[2606:4700::1111]', '8.8.8.8 ', '8.8.8'],
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    ...[
      '1.0.0.0',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
    ],
    ...[
      '168.63.129.15',
      '168.63.129.17',
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '191.255.255.255',
    ],
    ...[
      '192.0.1.0',
      '192.0.3.0',
      '192.88.98.255',
      '192.88.100.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
    ],
    ...['198.51.99.255', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
    ...[
      '2000::',
      '2001:200::',
      '2001:db7:ffff::',
      '2001:db9::',
      '2001:4860:4860::8888',
      '2003::',
      '2606:4700:4700::1111',
      '3ffe:ffff::',
      '3fff:1000::',
    ],
  ])('allows %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  // The same rules a second time, as arithmetic.
  const inIpv4 = (value: number, network: number, prefixBits: number) =>
    Math.floor(value / 2 ** (32 - prefixBits)) === Math.floor(network / 2 ** (32 - prefixBits));
  const ipv4 = (text: string) => text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
  const deniedIpv4: [string, number][] = [
    ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12],
    ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24],
    ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4], ['168.63.129.16', 32],
  ]; // prettier-ignore

  it('agrees with arithmetic on any IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const denied = deniedIpv4.some(([network, bits]) => inIpv4(ipv4(address), ipv4(network), bits));
        expect(isPublicAddress(address)).toBe(!denied);
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with arithmetic on any IPv6 address, however it is spelled', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const first = fc.constantFrom(0x2001, 0x2002, 0x2003, 0x3ffe, 0x3fff, 0x2606, 0xfe80, 0, 0x4000);
    const second = fc.constantFrom(0, 0x1ff, 0x200, 0xdb8, 0xdb9, 0xfff, 0x1000, 0xffff);
    fc.assert(
      fc.property(groups, first, second, ([, , ...rest], one, two) => {
        const denied =
          one < 0x2000 || one > 0x3fff || one === 0x2002 ||
          (one === 0x2001 && (two < 0x200 || two === 0xdb8)) ||
          (one === 0x3fff && two < 0x1000); // prettier-ignore
        const all = [one, two, ...rest];
        const full = all.map((group) => group.toString(16).padStart(4, '0')).join(':');
        expect(isPublicAddress(full)).toBe(!denied);
        expect(isPublicAddress(full.toUpperCase())).toBe(!denied);
        expect(isPublicAddress(new URL(`http://[${full}]/`).hostname.slice(1, -1))).toBe(!denied);
      }),
      { numRuns: 2000 },
    );
  });
});

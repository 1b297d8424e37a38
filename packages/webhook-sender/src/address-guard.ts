import { BlockList, isIP } from 'node:net';

// The IANA special-purpose registries (RFC 6890 and its successors), multicast, and the platform address of one large
// cloud, 168.63.129.16.
const deniedIpv4 = ipv4List(
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
);

// Only global unicast is allowed, except special-purpose ranges and ranges that embed an IPv4 address (Teredo, 6to4).
// Mapped, compatible, unique-local, link-local, site-local and multicast addresses are outside 2000::/3.
const allowedIpv6 = ipv6List('2000::/3');
const deniedIpv6 = ipv6List('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');

/** Returns false for a string that is not an address and for an address with a zone, such as `fe80::1%eth0`. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !deniedIpv4.check(address, 'ipv4');
    case 6:
      return allowedIpv6.check(address, 'ipv6') && !deniedIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

function ipv4List(...subnets: readonly string[]): BlockList {
  return list('ipv4', subnets);
}

function ipv6List(...subnets: readonly string[]): BlockList {
  return list('ipv6', subnets);
}

function list(family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList {
  const blockList = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefixBits] = subnet.split('/');
    blockList.addSubnet(network, Number(prefixBits), family);
  }
  return blockList;
}

import { expect, test } from 'vitest';
import { addressProblem } from './callback-rules.ts';
import { translatedAddress } from './nat64.ts';

const ownPrefix = '2001:db8:64::';

test.each([
  ['64:ff9b::5db8:d822', '93.184.216.34'],
  ['64:ff9b::93.184.216.34', '93.184.216.34'],
  ['64:ff9b::', '0.0.0.0'],
  ['64:ff9b::1', '0.0.0.1'],
  ['64:FF9B:0:0:0:0:7f00:1', '127.0.0.1'],
  ['2001:db8:64::7f00:1', '127.0.0.1'],
  ['2001:db8:64::1:0', '0.1.0.0'],
  ['64:ff9b:1::7f00:1', null],
  ['64:ff9b:0:0:0:1:7f00:1', null],
  ['2001:db8:65::7f00:1', null],
  ['::ffff:127.0.0.1', null],
  ['64:ff9b::7f00:1%eth0', null],
  ['127.0.0.1', null],
  ['localhost', null],
])('%s reaches %s', (address, expected) => {
  expect(translatedAddress(address, ownPrefix)).toBe(expected);
});

const denied = { includes: (address: string) => ['9.9.9.9', '64:ff9b::808:404'].includes(address) };

test.each([
  ['64:ff9b::5db8:d822', null],
  ['64:ff9b::7f00:1', 'not public'],
  ['64:ff9b::a9fe:a9fe', 'not public'],
  ['64:ff9b::909:909', 'denied'],
  ['64:ff9b::808:404', 'denied'],
  ['2606:4700:64::5db8:d822', null],
  ['2606:4700:64::a00:1', 'not public'],
])('the rules judge %s as the IPv4 address that it reaches: %s', (address, problem) => {
  const rules = { policy: 'public', deniedRanges: denied, nat64Prefix: '2606:4700:64::' } as const;
  expect(addressProblem(address, rules)).toBe(problem);
});

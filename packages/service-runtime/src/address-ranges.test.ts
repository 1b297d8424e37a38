import { expect, test } from 'vitest';
import { deniedRangesVariable, egressAddressesVariable } from './address-ranges.ts';

const ranges = deniedRangesVariable().parse(
  '9.8.7.0/24, 9.9.9.9,2600:1f00::/24,2a00:1450::7 , ::ffff:5.6.7.0/120,0.0.0.0/8',
);

test.each([
  ['9.8.7.0', true],
  ['9.8.7.255', true],
  ['9.8.6.255', false],
  ['9.8.8.0', false],
  ['9.9.9.9', true],
  ['9.9.9.8', false],
  ['::ffff:9.9.9.9', true],
  ['::FFFF:909:909', true],
  ['2600:1f00::', true],
  ['2600:1fff:ffff:ffff:ffff:ffff:ffff:ffff', true],
  ['2600:2000::', false],
  ['2A00:1450:0:0:0:0:0:7', true],
  ['2a00:1450::8', false],
  ['2a00:1450::7%eth0', true],
  ['5.6.7.8', true],
  ['5.6.8.8', false],
  ['0.1.2.3', true],
  ['::1', false],
  ['receiver.example', false],
  ['', false],
])('%s is denied: %s', (address, isDenied) => {
  expect(ranges.includes(address)).toBe(isDenied);
});

test('a prefix of 0 denies a whole family', () => {
  const ipv4 = deniedRangesVariable().parse('0.0.0.0/0');
  expect([ipv4.includes('8.8.8.8'), ipv4.includes('2600::1')]).toEqual([true, false]);
  const ipv6 = deniedRangesVariable().parse('::/0');
  expect(ipv6.includes('2600::1')).toBe(true);
});

test('denies nothing by default', () => {
  expect(deniedRangesVariable().parse(undefined).includes('8.8.8.8')).toBe(false);
});

test.each([
  '',
  ' ',
  ',',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0/8',
  '::/129',
  'fe80::1%eth0',
  'example.com',
])('rejects %j and names the entry', (entry) => {
  const { error } = deniedRangesVariable().safeParse(`10.0.0.0/8,${entry}`);
  expect(error?.issues.map(({ message }) => message)).toEqual([
    'must be IP addresses or ranges such as 198.51.100.0/24, separated by commas; entry 2 is not',
  ]);
});

test.each([
  '10.0.0.1/8',
  '9.8.7.128/24',
  '0.0.0.1/0',
  '2600:1f00::1/24',
  '2600:1f80::/24',
  '::ffff:5.6.7.1/120',
  '::1/0',
])('rejects %s, which has bits after its prefix, and names it', (entry) => {
  const { error } = deniedRangesVariable().safeParse(`9.9.9.9, ${entry}`);
  expect(error?.issues.map(({ message }) => message)).toEqual([
    `must contain ranges that begin with their first address; entry 2, ${entry}, does not`,
  ]);
});

test.each([
  [undefined, []],
  ['198.51.100.7', ['198.51.100.7']],
  ['198.51.100.0/24 ,2001:DB8::7, 2001:db8:1::/48', ['198.51.100.0/24', '2001:DB8::7', '2001:db8:1::/48']],
])('reads the addresses of requests to receivers as they are written: %j', (text, expected) => {
  expect(egressAddressesVariable().parse(text)).toEqual(expected);
});

test.each([
  ['', 'must be IP addresses or ranges such as 198.51.100.0/24, separated by commas; entry 1 is not'],
  [
    '198.51.100.7,nat.example',
    'must be IP addresses or ranges such as 198.51.100.0/24, separated by commas; entry 2 is not',
  ],
  ['198.51.100.7/24', 'must contain ranges that begin with their first address; entry 1, 198.51.100.7/24, does not'],
  [Array(33).fill('198.51.100.7').join(), 'must have at most 32 entries'],
])('rejects addresses of requests to receivers: %j', (text, problem) => {
  const { error } = egressAddressesVariable().safeParse(text);
  expect(error?.issues.map(({ message }) => message)).toEqual([problem]);
});

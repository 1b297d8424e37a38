import { expect, test } from 'vitest';
import { addressBlock } from './address-block.ts';

test.each([
  ['198.51.100.1', '198.51.100.1'],
  ['2a00:1:2:3:4:5:6:7', '2a00:1:2:3::/64'],
  ['2a00::1', '2a00:0:0:0::/64'],
  ['2a00:1::3:4:5:6:7', '2a00:1:0:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('counts %s under %s', (address, block) => {
  expect(addressBlock(address)).toBe(block);
});

import assert from 'node:assert';
import { printOldBytes } from '@deedwire/testing/old-generation';
import { ShortLivedMap } from '../../src/kernel/short-lived-map.ts';

// 5,000 entries of 4 kB pass through a map that has 40 of them at a time, after a time in which entries lived long.

const longLived = Array.from({ length: 40 }, () => {
  const map = new ShortLivedMap<string, string>();
  for (let number = 0; number < 4_000; number += 1) map.set(`key-${number}`, `value-${number}`);
  return map;
});

const map = new ShortLivedMap<string, string>();
const bytes = Buffer.alloc(2_000);
printOldBytes((number) => {
  bytes.writeUInt32LE(number);
  map.set(`key-${number}`, bytes.toString('hex'));
  map.delete(`key-${number - 40}`);
});
assert(longLived.length > 0);

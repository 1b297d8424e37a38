import { abilities, type Ability, usualAbilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { type AddressRanges, readRanges } from './address-ranges.ts';
import { generateApiKey } from './api-key.ts';
import { storedHash } from './stored-hash.ts';

const { keyHash } = generateApiKey(testService, 'supplier');

test('the hash of a key from before there were abilities is stored as it is', () => {
  expect(storedHash(keyHash, { abilities: usualAbilities, addresses: null })).toEqual(keyHash);
  expect(storedHash(keyHash, { abilities: usualAbilities.toReversed(), addresses: null })).toEqual(keyHash);
});

const anywhere = readRanges(['::/0']);

test.each<[Ability[], AddressRanges | null]>([
  [['READ'], null],
  [usualAbilities.slice(1), null],
  [[...abilities], null],
  [['READ', 'READ', 'READ', 'READ', 'READ'], null],
  [[...usualAbilities], anywhere],
  [['READ'], anywhere],
])(
  'a build that does not know the limit does not find the hash of a key with %j and addresses %j',
  (chosen, addresses) => {
    const limits = { abilities: chosen, addresses };
    const stored = storedHash(keyHash, limits);
    expect(stored).not.toEqual(keyHash);
    // What a build makes of it that knows abilities, and no addresses.
    expect(stored.equals(storedHash(keyHash, { ...limits, addresses: null }))).toBe(addresses === null);
    expect(storedHash(stored, limits)).toEqual(keyHash);
  },
);

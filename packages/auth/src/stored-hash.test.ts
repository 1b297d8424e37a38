import { abilities, type Ability, usualAbilities } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { generateApiKey } from './api-key.ts';
import { storedHash } from './stored-hash.ts';

const { keyHash } = generateApiKey('lender');

test('the hash of a key from before there were abilities is stored as it is', () => {
  expect(storedHash(keyHash, usualAbilities)).toEqual(keyHash);
  expect(storedHash(keyHash, usualAbilities.toReversed())).toEqual(keyHash);
});

test.each<[Ability[]]>([
  [['READ']],
  [usualAbilities.slice(1)],
  [[...abilities]],
  [['READ', 'READ', 'READ', 'READ', 'READ']],
])('a build that does not know abilities does not find the hash of a key with %j', (chosen) => {
  const stored = storedHash(keyHash, chosen);
  expect(stored).not.toEqual(keyHash);
  expect(storedHash(stored, chosen)).toEqual(keyHash);
});

import { areUsual } from '@deedwire/core';
import type { StoredApiKey } from './stored-api-key.ts';

/**
 * Converts the hash of a key to what is stored of it, and back. Of a limited key, bits are inverted: a build that does not know the limit
 * would accept the key without it, but finds no key that has this hash.
 */
export function storedHash(
  keyHash: Buffer,
  { abilities, addresses }: Pick<StoredApiKey, 'abilities' | 'addresses'>,
): Buffer {
  // The first builds that know abilities invert all bits of a key with other abilities than the usual ones, and know no addresses.
  const inverted = addresses === null ? 0xff : 0x55;
  return addresses === null && areUsual(abilities) ? keyHash : Buffer.from(keyHash.map((byte) => byte ^ inverted));
}

import { type Ability, areUsual } from '@deedwire/domain';

/**
 * Converts the hash of a key to what is stored of it, and back. Of a limited key, one with other abilities than the usual ones, each bit
 * is inverted: a build from before there were abilities would accept the key for everything, but finds no key that has this hash.
 */
export function storedHash(keyHash: Buffer, abilities: readonly Ability[]): Buffer {
  return areUsual(abilities) ? keyHash : Buffer.from(keyHash.map((byte) => byte ^ 0xff));
}

import { createHash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { toBase62 } from './base62.ts';
import type { InterfaceName } from './interface-name.ts';

/**
 * The shape of an API key: `dw_<interface>_<key id>_<secret>_<checksum>`. Secret scanners can match it and then confirm
 * the checksum: the CRC-32 of every character before it, the underscore included, in base 62 (`0-9A-Za-z`).
 */
export const apiKeyPattern = /^dw_(lender|partner)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/;

/** For documentation and tests. Well-formed, with a right checksum, and never issued. */
export const exampleApiKey = 'dw_lender_ExampleKeyId_NotASecretJustAnExampleOfTheShapeOfAnApiKey_2yWAfE';

export interface GeneratedApiKey {
  /** The whole key. Show it once; only its hash is kept. */
  apiKey: string;
  /** The public part, by which the key is looked up and listed. */
  keyId: string;
  /** What to store, see `hashApiKey`. */
  keyHash: Buffer;
}

export interface ParsedApiKey {
  interfaceName: InterfaceName;
  keyId: string;
}

/** Makes a new API key with a secret of 256 random bits. */
export function generateApiKey(interfaceName: InterfaceName): GeneratedApiKey {
  const keyId = toBase62(BigInt(randomInt(62 ** 6)), 6) + toBase62(BigInt(randomInt(62 ** 6)), 6);
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  const unchecked = `dw_${interfaceName}_${keyId}_${secret}_`;
  const apiKey = unchecked + checksum(unchecked);
  return { apiKey, keyId, keyHash: hashApiKey(apiKey) };
}

/** Null when the value has another shape, or a checksum that is not right. Reads no store. */
export function parseApiKey(value: string): ParsedApiKey | null {
  const [, interfaceName, keyId] = apiKeyPattern.exec(value) ?? [];
  if (interfaceName === undefined || keyId === undefined) return null;
  if (checksum(value.slice(0, -6)) !== value.slice(-6)) return null;
  return { interfaceName: interfaceName === 'lender' ? 'lender' : 'partner', keyId };
}

/** SHA-256 of the whole key. A fast hash is enough: the secret is 256 random bits, not a password. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), 6);
}

import { hash, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type InterfaceName, ofService, type Service } from '@deedwire/core';
import { toBase62 } from './base62.ts';

type Named = Pick<Service, 'names'>;

/**
 * The format of an API key: `dw_<interface>_<key id>_<secret>_<checksum>`. The checksum is the CRC-32 of all characters
 * before it, including the last underscore, in base 62 (`0-9A-Za-z`). Secret scanners use it to confirm a match.
 */
export const apiKeyPattern = ofService(
  ({ names }: Named) =>
    new RegExp(`^${names.apiKeyPrefix}_([a-z]+(?:-[a-z]+)*)_([0-9A-Za-z]{12})_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`),
);

export interface GeneratedApiKey {
  /** The whole key. Show it once: only its hash is stored. */
  apiKey: string;
  /** The public part, which identifies the key in lookups and lists. */
  keyId: string;
  /** The hash to store; see `hashApiKey`. */
  keyHash: Buffer;
}

export interface ParsedApiKey {
  /** Whether the service has the interface is not checked. */
  interfaceName: InterfaceName;
  keyId: string;
}

/** Generates an API key with a secret of 256 random bits. */
export function generateApiKey({ names }: Named, interfaceName: InterfaceName): GeneratedApiKey {
  const keyId = toBase62(BigInt(randomInt(62 ** 6)), 6) + toBase62(BigInt(randomInt(62 ** 6)), 6);
  const secret = toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  const unchecked = `${names.apiKeyPrefix}_${interfaceName}_${keyId}_${secret}_`;
  const apiKey = unchecked + checksum(unchecked);
  return { apiKey, keyId, keyHash: hashApiKey(apiKey) };
}

/** Parses an API key without accessing a store. Returns null if the format or the checksum is invalid. */
export function parseApiKey(service: Named, value: string): ParsedApiKey | null {
  const [, interfaceName, keyId] = apiKeyPattern(service).exec(value) ?? [];
  if (interfaceName === undefined || keyId === undefined) return null;
  if (checksum(value.slice(0, -6)) !== value.slice(-6)) return null;
  return { interfaceName, keyId };
}

/** The key id of an API key whose format is not checked. Another text gives anything, for example an empty string. */
export function peekKeyId(value: string): string {
  const start = value.indexOf('_', value.indexOf('_') + 1) + 1;
  return value.slice(start, start + 12);
}

/** Returns the SHA-256 of the whole key. A fast hash is sufficient because the secret has 256 random bits. */
export function hashApiKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer');
}

/** As `hashApiKey`, with a character per byte: a buffer takes longer than the hash. */
export function hashAsText(apiKey: string): string {
  return hash('sha256', apiKey, 'latin1');
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), 6);
}

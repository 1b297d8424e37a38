import { createHash } from 'node:crypto';
import { type RecordId, toRecordId } from './record-id.ts';

const keyMaxBytes = 200;

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The id of a record in the application, as it is compared: a UUID in lower case, and any other text as it is. Null if it does not have 1
 * to 200 bytes, or has a character that PostgreSQL does not store.
 */
export function readRecordKey(text: string): string | null {
  if (text === '' || !text.isWellFormed() || text.includes('\0') || Buffer.byteLength(text) > keyMaxBytes) return null;
  return uuid.test(text) ? text.toLowerCase() : text;
}

/** The number that stands for a key in columns of record ids: 63 bits of its SHA-256. Two keys can have the same. */
export function hashRecordKey(key: string): RecordId<string> {
  const bits = createHash('sha256').update(key).digest().readBigUInt64BE();
  return toRecordId(String(BigInt.asUintN(63, bits)));
}

import { z } from 'zod';
import { looksRandom } from './looks-random.ts';

/**
 * Parses `<key id>:<base64 of 32 bytes>`, or several of these separated by commas, into keys by id in the given order. The
 * error messages never contain a key.
 */
export function secretKeysVariable() {
  return z.string().transform((text, context) => {
    const keys = new Map<string, Buffer>();
    for (const [index, part] of text.split(',').entries()) {
      const [, keyId, encoded] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(part.trim()) ?? [];
      if (keyId === undefined || encoded === undefined) {
        context.addIssue(
          `must be <key id>:<base64 of 32 bytes>, several separated by commas; entry ${index + 1} is not`,
        );
        return z.NEVER;
      }
      if (keys.has(keyId)) {
        context.addIssue(`must not contain the key id '${keyId}' twice`);
        return z.NEVER;
      }
      const key = Buffer.from(encoded, 'base64');
      if (!looksRandom(key)) {
        context.addIssue(`must contain random keys, and '${keyId}' is not. Make a key with: openssl rand -base64 32`);
        return z.NEVER;
      }
      keys.set(keyId, key);
    }
    return keys;
  });
}

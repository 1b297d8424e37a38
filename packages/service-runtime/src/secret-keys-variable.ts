import { z } from 'zod';

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

// 32 random bytes have about 30 different values, and 31 differences between neighbors have about 29.
const differentMin = 17;

/**
 * Whether 32 bytes can come from a random generator: they are not all printable ASCII characters, have at least 17 different
 * values, and the differences between neighbors (modulo 256) have at least 17 different values.
 *
 * So it rejects repeated bytes and patterns of up to 16 bytes, text, hexadecimal text, and sequences such as 0, 1, 2. It
 * rejects a random key with a probability below 1 in 10^13: 1.7e-14 for ASCII, 2.2e-15 for the values and 2.8e-15 for the
 * differences.
 */
function looksRandom(key: Buffer): boolean {
  const bytes = [...key];
  const differences = bytes.slice(1).map((byte, index) => (byte - (bytes[index] ?? 0) + 256) % 256);
  return (
    bytes.some((byte) => byte < 0x20 || byte > 0x7e) &&
    new Set(bytes).size >= differentMin &&
    new Set(differences).size >= differentMin
  );
}

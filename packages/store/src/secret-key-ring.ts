import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest with AES-256-GCM. Several keys, so that one can be replaced while its secrets are rewritten. */
export interface SecretKeyRing {
  /** @param associatedData what the secret belongs to: the ciphertext opens under no other */
  encrypt(secret: string, associatedData: string): Buffer;
  /** @throws SecretUnreadableError for another record's ciphertext, an unknown key, or one that was altered */
  decrypt(ciphertext: Buffer, associatedData: string): string;
}

/** A secret in the database cannot be decrypted. */
export class SecretUnreadableError extends Error {
  readonly code = 'SECRET_UNREADABLE';
  override readonly name = 'SecretUnreadableError';
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
// Named, because Node accepts tags of 4 bytes otherwise.
const tagBytes = 16;

/**
 * @param keys by id, 32 bytes each; the first encrypts, all decrypt. An id is 1 to 32 of `A–Z a–z 0–9 _ -`.
 *
 * A ciphertext is: one byte with the length of the key id, the key id, IV (12), tag (16), encrypted bytes.
 */
export function createSecretKeyRing(keys: ReadonlyMap<string, Buffer>): SecretKeyRing {
  const [first] = keys;
  if (first === undefined) throw new Error('A key ring needs at least one key.');
  const [currentKeyId, currentKey] = first;

  return {
    encrypt(secret, associatedData) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, currentKey, iv, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(associatedData));
      const encrypted = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const keyId = Buffer.from(currentKeyId, 'latin1');
      return Buffer.concat([Buffer.of(keyId.length), keyId, iv, cipher.getAuthTag(), encrypted]);
    },

    decrypt(ciphertext, associatedData) {
      const ivStart = 1 + (ciphertext[0] ?? 0);
      const tagStart = ivStart + ivBytes;
      const encryptedStart = tagStart + tagBytes;
      if (ciphertext.length < encryptedStart) throw new SecretUnreadableError('The encrypted secret is cut short.');
      const keyId = ciphertext.toString('latin1', 1, ivStart);
      const key = keys.get(keyId);
      if (key === undefined) throw new SecretUnreadableError(`There is no key '${keyId}' in WEBHOOK_SECRET_KEYS.`);
      const decipher = createDecipheriv(algorithm, key, ciphertext.subarray(ivStart, tagStart), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(associatedData));
      decipher.setAuthTag(ciphertext.subarray(tagStart, encryptedStart));
      try {
        return decipher.update(ciphertext.subarray(encryptedStart), undefined, 'utf8') + decipher.final('utf8');
      } catch (cause) {
        throw new SecretUnreadableError('The encrypted secret does not open: altered, or of another record.', {
          cause,
        });
      }
    },
  };
}

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest with AES-256-GCM. A ring of several keys lets an operator replace a key while secrets still use it. */
export interface SecretKeyRing {
  /** The id of the key that encrypts. */
  readonly currentKeyId: string;
  /** @param associatedData identifies the owner of the secret. Decryption needs the same value. */
  encrypt(secret: string, associatedData: string): Buffer;
  /** @throws {SecretUnreadableError} if the ciphertext was altered, has another owner or was encrypted with an unknown key */
  decrypt(ciphertext: Buffer, associatedData: string): string;
  /**
   * Digests by which a secret can be recognized, and not guessed without a key: one for each key, that of the current one first.
   *
   * @param associatedData digests of the same secret for another one differ
   */
  digests(secret: string, associatedData: string): [current: string, ...others: string[]];
}

/** The id of the key that encrypted a secret. Null if the bytes are too short for a ciphertext. */
export function secretKeyId(ciphertext: Buffer): string | null {
  const ivStart = 1 + (ciphertext[0] ?? 0);
  return ciphertext.length < ivStart + ivBytes + tagBytes ? null : ciphertext.toString('latin1', 1, ivStart);
}

/** A secret in the database cannot be decrypted. */
export class SecretUnreadableError extends Error {
  readonly code = 'SECRET_UNREADABLE';
  override readonly name = 'SecretUnreadableError';
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
// Without an explicit length, Node accepts tags of 4 bytes.
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
    currentKeyId,

    encrypt(secret, associatedData) {
      // Not from an argument: a repeated IV would reveal the key stream.
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, currentKey, iv, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(associatedData));
      const encrypted = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      const keyId = Buffer.from(currentKeyId, 'latin1');
      return Buffer.concat([Buffer.of(keyId.length), keyId, iv, cipher.getAuthTag(), encrypted]);
    },

    decrypt(ciphertext, associatedData) {
      const keyId = secretKeyId(ciphertext);
      if (keyId === null) throw new SecretUnreadableError('The encrypted secret is truncated.');
      const ivStart = 1 + (ciphertext[0] ?? 0);
      const tagStart = ivStart + ivBytes;
      const encryptedStart = tagStart + tagBytes;
      const key = keys.get(keyId);
      if (key === undefined)
        throw new SecretUnreadableError(
          `WEBHOOK_SECRET_KEYS contains no key '${keyId}'. Add the key that encrypted this secret.`,
        );
      const decipher = createDecipheriv(algorithm, key, ciphertext.subarray(ivStart, tagStart), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(associatedData));
      decipher.setAuthTag(ciphertext.subarray(tagStart, encryptedStart));
      try {
        return decipher.update(ciphertext.subarray(encryptedStart), undefined, 'utf8') + decipher.final('utf8');
      } catch (cause) {
        throw new SecretUnreadableError(
          'The encrypted secret cannot be decrypted. It was altered, has another owner, or the key is not the original one.',
          {
            cause,
          },
        );
      }
    },

    digests(secret, associatedData) {
      const text = JSON.stringify([associatedData, secret]);
      const others = [...keys.values()].slice(1);
      return [digestWith(currentKey, text), ...others.map((key) => digestWith(key, text))];
    },
  };
}

/** With a separate key, which is derived: the same key never encrypts and hashes. */
function digestWith(key: Buffer, text: string): string {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'deedwire digest', 32));
  return createHmac('sha256', derived).update(text).digest('base64url');
}

import crypto, { createHmac } from 'node:crypto';
import { secretPrefix, type SchemeName } from './schemes.ts';

const blockBytes = 64;
const hashBytes = 32;
const maxPrefixBytes = 512;
// For a larger body, most of the time is spent on hashing it, and a copy would need more memory.
const maxCopiedBytes = 8192;

const encodings = { service: 'hex', standard: 'base64' } as const;

/** The input of the two hashes of an HMAC. Both begin with the padded key, which stays for the next message. */
class Blocks {
  readonly inner = Buffer.alloc(blockBytes + maxPrefixBytes + maxCopiedBytes);
  readonly outer = Buffer.alloc(blockBytes + hashBytes);
  /** The padded keys in words, because padding is then 16 operations instead of 64. */
  readonly innerKey = new Int32Array(this.inner.buffer, this.inner.byteOffset, blockBytes / 4);
  readonly outerKey = new Int32Array(this.outer.buffer, this.outer.byteOffset, blockBytes / 4);
  /** The secret whose padded keys the blocks contain. A receiver has one; only the last one is kept. */
  secret: string | null = null;
  /** The used part of `inner`. Kept, because deliveries of one event to several receivers have the same length. */
  #message = this.inner;

  message(length: number): Buffer {
    if (this.#message.length !== length) this.#message = this.inner.subarray(0, length);
    return this.#message;
  }
}

const blocksOf: Readonly<Record<SchemeName, Blocks>> = { service: new Blocks(), standard: new Blocks() };

/**
 * Returns the HMAC-SHA256 of `prefix` (ASCII) followed by the body, in the encoding of the scheme. `secret` must be valid.
 *
 * For a body of usual size, the HMAC (RFC 2104) is computed from two calls of `crypto.hash`. `createHmac` spends most of its
 * time on creating a native object: 1.75 µs instead of 1.0 µs for 350 bytes.
 */
export function hmac(scheme: SchemeName, secret: string, prefix: string, body: Uint8Array): string {
  // Node 20.12 added `crypto.hash`.
  if (typeof crypto.hash !== 'function' || body.length > maxCopiedBytes || prefix.length > maxPrefixBytes) {
    return createHmac('sha256', key(scheme, secret)).update(prefix, 'latin1').update(body).digest(encodings[scheme]);
  }
  const blocks = blocksOf[scheme];
  const { inner, outer } = blocks;
  if (blocks.secret !== secret) {
    blocks.secret = null;
    writePaddedKey(blocks, scheme, secret);
    blocks.secret = secret;
  }
  const bodyStart = blockBytes + inner.write(prefix, blockBytes, 'latin1');
  inner.set(body, bodyStart);
  // A hash as a string of 32 characters costs less than one as a Buffer or in hexadecimal.
  const innerHash = crypto.hash('sha256', blocks.message(bodyStart + body.length), 'latin1');
  outer.write(innerHash, blockBytes, 'latin1');
  return crypto.hash('sha256', outer, encodings[scheme]);
}

function key(scheme: SchemeName, secret: string): Buffer {
  return scheme === 'service'
    ? Buffer.from(secret, 'latin1')
    : Buffer.from(secret.slice(secretPrefix.length), 'base64');
}

/** Writes the key, padded with zeros, into both blocks. A key that is longer than a block is replaced by its hash. */
function writePaddedKey({ inner, innerKey, outerKey }: Blocks, scheme: SchemeName, secret: string): void {
  innerKey.fill(0);
  if (scheme === 'standard') inner.write(secret.slice(secretPrefix.length), 0, blockBytes, 'base64');
  else if (secret.length <= blockBytes) inner.write(secret, 0, blockBytes, 'latin1');
  else inner.write(crypto.hash('sha256', secret, 'hex'), 0, blockBytes, 'hex');
  for (let i = 0; i < innerKey.length; i += 1) {
    const word = innerKey[i] ?? 0;
    innerKey[i] = word ^ 0x36363636;
    outerKey[i] = word ^ 0x5c5c5c5c;
  }
}

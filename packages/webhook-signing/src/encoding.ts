const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Returns lowercase hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** Does not validate `hex`: it must consist of pairs of hexadecimal digits. */
export function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** RFC 4648 section 4, with padding. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Does not validate `base64`. */
export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/**
 * Returns the number of bytes that `text` encodes, or null unless it is exactly what `toBase64` produces: padded, without
 * white space and without stray trailing bits.
 */
export function canonicalBase64Bytes(text: string): number | null {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? binary.length : null;
  } catch {
    return null;
  }
}

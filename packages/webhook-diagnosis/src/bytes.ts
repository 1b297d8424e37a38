const encoder = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => encoder.encode(text);

/** Null if the bytes are not valid UTF-8. A byte order mark is part of the text. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

const chunk = 8_192;

/** One character for each byte, whatever the bytes are. */
export function latin1Text(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += chunk)
    text += String.fromCharCode(...bytes.subarray(start, start + chunk));
  return text;
}

/** Null if a character has no byte. */
export function latin1Bytes(text: string): Bytes | null {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0xff) return null;
    bytes[index] = code;
  }
  return bytes;
}

/** Decodes base64 or base64url, with or without padding and line breaks. Null if it is neither. */
export function looseBase64(text: string): Bytes | null {
  const compact = text.replaceAll(/[\s=]/g, '').replaceAll('-', '+').replaceAll('_', '/');
  if (compact === '' || compact.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(compact)) return null;
  return latin1Bytes(atob(compact));
}

export const toBase64 = (bytes: Uint8Array): string => btoa(latin1Text(bytes));

/** Null if it is not an even number of hexadecimal digits. */
export function hexBytes(text: string): Bytes | null {
  if (text === '' || text.length % 2 !== 0 || !/^[0-9a-f]+$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

/** Null unless the bytes are UTF-16: with a byte order mark, or with a zero in every other byte. */
export function utf16Text(bytes: Uint8Array): string | null {
  const encoding = startsWith(bytes, [0xff, 0xfe])
    ? 'utf-16le'
    : startsWith(bytes, [0xfe, 0xff])
      ? 'utf-16be'
      : encodingByZeros(bytes);
  return encoding === null || bytes.length % 2 !== 0 ? null : new TextDecoder(encoding).decode(bytes);
}

function encodingByZeros(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second] = bytes;
  if (first === undefined || second === undefined || bytes.length < 4) return null;
  const zeros = [0, 1].map((parity) =>
    bytes.subarray(0, 64).every((byte, index) => index % 2 !== parity || byte === 0),
  );
  if (zeros[1] === true && first !== 0) return 'utf-16le';
  return zeros[0] === true && second !== 0 ? 'utf-16be' : null;
}

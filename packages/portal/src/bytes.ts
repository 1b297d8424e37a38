export interface Bytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Null if the bytes are not UTF-8. */
  readonly text: string | null;
}

export function bytesOfText(text: string): Bytes {
  return { bytes: new TextEncoder().encode(text), text };
}

export function bytesOfBase64(base64: string): Bytes {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  try {
    return { bytes, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { bytes, text: null };
  }
}

/** `00000010  7b 22 69 64  {"id`: 16 bytes a line. */
export function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += 16) {
    const row = [...bytes.subarray(offset, offset + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join('\n');
}

export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** JSON with line breaks between its tokens, which stay as they are: numbers keep their digits, texts their escapes. Null if it is not JSON. */
export function indentJson(json: string): string | null {
  try {
    JSON.parse(json);
  } catch {
    return null;
  }
  let depth = 0;
  const line = (change: number) => `\n${'  '.repeat((depth += change))}`;
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|\s+|[{[]\s*[}\]]|[{}[\],:]/g, (token) => {
    if (token.startsWith('"')) return token;
    if (/^[{[].*[}\]]$/s.test(token)) return token.replaceAll(/\s+/g, '');
    if (token === '{' || token === '[') return token + line(1);
    if (token === '}' || token === ']') return line(-1) + token;
    if (token === ',') return token + line(0);
    return token === ':' ? ': ' : '';
  });
}

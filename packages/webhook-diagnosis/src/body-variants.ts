import {
  type Bytes,
  isEqual,
  latin1Bytes,
  latin1Text,
  looseBase64,
  startsWith,
  utf16Text,
  utf8,
  utf8Text,
} from './bytes.ts';
import { type Undo, type Variant, variantsOf } from './variants.ts';

/** Writes a body with its fields in the order of the contract. Null if the contract does not know it. */
export type ContractOrder = (type: string, version: string, value: object) => string | null;

/** The bodies that may have been signed, if something has changed the one that was captured. */
export function bodyVariants(body: Bytes, order: ContractOrder): Variant<Bytes>[] {
  return variantsOf(body, undosOf(order), 2, isEqual);
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** Those that are more likely first: with the same number of changes, the first one that matches is reported. */
const undosOf = (order: ContractOrder): readonly Undo<Bytes>[] => [
  ['BODY_TRAILING_NEWLINE', withoutLineBreak],
  ['BODY_BOM', (body) => (startsWith(body, [0xef, 0xbb, 0xbf]) ? body.slice(3) : null)],
  ['BODY_CRLF', (body) => replaceText(body, /\r\n/g, '\n')],
  ['BODY_LF', (body) => replaceText(body, /\r?\n/g, '\r\n')],
  ['BODY_UTF16', (body) => encoded(utf16Text(body))],
  ['BODY_UTF16', (body) => fromUtf16(body, 'utf-16le')],
  ['BODY_UTF16', (body) => fromUtf16(body, 'utf-16be')],
  ['BODY_ENCODED_TWICE', decodeOnce],
  ['BODY_LATIN1', (body) => (utf8Text(body) === null ? utf8(new TextDecoder('windows-1252').decode(body)) : null)],
  ['BODY_WHITESPACE_CHANGED', (body) => mapTokens(body, 'space', () => '')],
  ['BODY_ESCAPES_CHANGED', (body) => mapTokens(body, 'string', reserialized)],
  ['BODY_KEYS_REORDERED', (body) => inOrderOfContract(body, order)],
  ['BODY_NUMBERS_CHANGED', (body) => mapTokens(body, 'number', reserialized)],
  ['BODY_JSON_STRING', (body) => encoded(jsonOf(body, (value) => (typeof value === 'string' ? value : null)))],
  ['BODY_BASE64', (body) => looseBase64(latin1Text(body))],
  ['BODY_CHUNKED', withoutChunks],
  ['BODY_TRIMMED', (body) => (body.at(-1) === lineFeed ? null : withLineFeed(body))],
];

const encoded = (text: string | null): Bytes | null => (text === null ? null : utf8(text));

function withLineFeed(body: Bytes): Bytes {
  const longer = new Uint8Array(body.length + 1);
  longer.set(body);
  longer[body.length] = lineFeed;
  return longer;
}

function withoutLineBreak(body: Bytes): Bytes | null {
  if (body.at(-1) !== lineFeed) return null;
  return body.slice(0, body.at(-2) === carriageReturn ? -2 : -1);
}

/** Works on the bytes, because the body may be in any encoding. */
function replaceText(body: Bytes, pattern: RegExp, by: string): Bytes | null {
  return latin1Bytes(latin1Text(body).replaceAll(pattern, by));
}

/** Without a byte order mark, and with few characters of ASCII. UTF-8 has a zero byte only for NUL. */
function fromUtf16(body: Bytes, encoding: string): Bytes | null {
  return body.includes(0) && body.length % 2 === 0 ? utf8(new TextDecoder(encoding).decode(body)) : null;
}

function decodeOnce(body: Bytes): Bytes | null {
  const text = utf8Text(body);
  if (text === null) return null;
  const bytes = latin1Bytes(text) ?? windows1252Bytes(text);
  return bytes === null || utf8Text(bytes) === null ? null : bytes;
}

const windows1252 = new Map(
  Array.from({ length: 256 }, (_, byte) => [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte]),
);

function windows1252Bytes(text: string): Bytes | null {
  const bytes = Array.from(text, (character) => windows1252.get(character));
  return bytes.includes(undefined) ? null : Uint8Array.from(bytes, (byte) => byte ?? 0);
}

/** Returns what `read` makes of the JSON value. Null if the body is not JSON. */
function jsonOf<Result>(body: Bytes, read: (value: unknown) => Result | null): Result | null {
  const text = utf8Text(body);
  if (text === null) return null;
  try {
    return read(JSON.parse(text));
  } catch {
    // Not JSON, or nested too deep.
    return null;
  }
}

const reserialized = (token: string): string => JSON.stringify(JSON.parse(token));

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\r\n]+|-?\d[\d.eE+-]*/g;

/** Changes the tokens of a kind in a JSON text. Everything else stays as it is. */
function mapTokens(body: Bytes, kind: 'number' | 'space' | 'string', change: (token: string) => string): Bytes | null {
  const isOfKind = {
    number: (token: string) => /^[-\d]/.test(token),
    space: (token: string) => /^\s/.test(token),
    string: (token: string) => token.startsWith('"'),
  }[kind];
  return jsonOf(body, () =>
    encoded((utf8Text(body) ?? '').replaceAll(tokens, (token) => (isOfKind(token) ? change(token) : token))),
  );
}

/** Deedwire writes the fields in the order of the contract. */
function inOrderOfContract(body: Bytes, order: ContractOrder): Bytes | null {
  return jsonOf(body, (value) => {
    if (typeof value !== 'object' || value === null || !('type' in value) || !('version' in value)) return null;
    const ordered = order(String(value.type), String(value.version), value);
    return ordered === null || ordered === JSON.stringify(value) ? null : utf8(ordered);
  });
}

function withoutChunks(body: Bytes): Bytes | null {
  const text = latin1Text(body);
  const parts: string[] = [];
  for (let position = 0; position < text.length;) {
    const [line, length] = /^([0-9a-f]{1,8})(?:;[^\r\n]*)?\r?\n/i.exec(text.slice(position, position + 256)) ?? [];
    if (line === undefined || length === undefined) return null;
    const start = position + line.length;
    const size = Number.parseInt(length, 16);
    if (size === 0) return latin1Bytes(parts.join(''));
    if (start + size > text.length) return null;
    parts.push(text.slice(start, start + size));
    const [end = ''] = /^\r?\n/.exec(text.slice(start + size, start + size + 2)) ?? [];
    position = start + size + end.length;
  }
  return null;
}

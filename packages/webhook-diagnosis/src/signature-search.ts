import type { Bytes } from './bytes.ts';
import { isEqual, looseBase64, utf8 } from './bytes.ts';
import type { PlainCode } from './findings.ts';
import type { Variant } from './variants.ts';

export type SchemeName = 'service' | 'standard';

/** What the signatures of one scheme may have been made from. */
export interface SearchedScheme {
  name: SchemeName;
  signatures: readonly Bytes[];
  /** The header `webhook-id`. Null if it is missing. */
  id: string | null;
  /** Those that may have been signed. */
  timestamps: readonly { text: string; isOfOtherScheme: boolean }[];
}

/** A secret that may have been used. */
export interface SearchedSecret extends Variant<string> {
  /** Its place in the list of configured secrets. */
  index: number;
}

/** A body that may have been signed. */
export interface SearchedBody extends Variant<Bytes> {
  /** Whether it is not derived from the captured one, but known from elsewhere. */
  isKnown: boolean;
}

/** What the first matching signature was made from. */
export interface Match {
  codes: readonly PlainCode[];
  secretIndex: number;
  usesOtherTimestamp: boolean;
  usesKnownBody: boolean;
}

interface Start {
  key: Bytes;
  prefix: string;
  codes: readonly PlainCode[];
  secretIndex: number;
  usesOtherTimestamp: boolean;
  /** How many things were changed, without the secret. */
  changes: number;
}

// Three changes at once can be the work of chance only for the reader; they are not searched.
const changesMax = 2;
const macsMax = 5_000;
const bytesMax = 128_000_000;

/** Looks for what was signed, beginning with what should have been. Null if nothing matches within a bounded number of tries. */
export async function searchSignature(
  scheme: SearchedScheme,
  secrets: readonly SearchedSecret[],
  bodies: readonly SearchedBody[],
): Promise<Match | null> {
  const starts = startsOf(scheme, secrets);
  const keys = new Map<Bytes, CryptoKey>();
  let [macs, bytes] = [0, 0];
  for (let changes = 0; changes <= changesMax; changes += 1) {
    for (const start of starts) {
      for (const { value, codes, isKnown } of bodies) {
        if (start.changes + Math.max(codes.length, isKnown ? 1 : 0) !== changes) continue;
        macs += 1;
        bytes += value.length;
        if (macs > macsMax || bytes > bytesMax) return null;
        const key = keys.get(start.key) ?? (await importKey(start.key));
        keys.set(start.key, key);
        const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, joined(utf8(start.prefix), value)));
        if (!scheme.signatures.some((signature) => isEqual(signature, mac))) continue;
        const { secretIndex, usesOtherTimestamp } = start;
        return { codes: [...start.codes, ...codes], secretIndex, usesOtherTimestamp, usesKnownBody: isKnown };
      }
    }
  }
  return null;
}

function startsOf(scheme: SearchedScheme, secrets: readonly SearchedSecret[]): Start[] {
  const prefixes = prefixesOf(scheme);
  return secrets.flatMap(({ value: secret, codes: ofSecret, index: secretIndex }) =>
    keysOf(scheme.name, secret).flatMap(([key, ofKey]) =>
      prefixes.map(({ prefix, codes, isOtherTimestamp }) => ({
        key,
        prefix,
        codes: [...ofSecret, ...ofKey, ...codes],
        secretIndex,
        usesOtherTimestamp: isOtherTimestamp,
        changes: ofKey.length + codes.length + (isOtherTimestamp ? 1 : 0),
      })),
    ),
  );
}

const secretPrefix = 'whsec_';

/** The key that the scheme derives from a secret, then those of usual mistakes. */
function keysOf(scheme: SchemeName, secret: string): [key: Bytes, codes: PlainCode[]][] {
  const rest = secret.slice(secretPrefix.length);
  const text = utf8(secret);
  const decoded = looseBase64(rest) ?? text;
  const withoutPrefix: [Bytes, PlainCode[]] = [utf8(rest), ['KEY_TEXT_WITHOUT_PREFIX']];
  if (scheme === 'service') return [[text, []], [decoded, ['KEY_DECODED']], withoutPrefix];
  return [[decoded, []], [text, ['KEY_TEXT']], withoutPrefix, ...wholeDecoded(secret)];
}

/** Decoders take `_` for a character of base64url, or ignore it, and ignore what does not fill a byte. */
function wholeDecoded(secret: string): [key: Bytes, codes: PlainCode[]][] {
  return [secret, secret.replace('_', '')].flatMap((whole) => {
    const characters = whole.replaceAll('=', '');
    const bytes = looseBase64(characters.length % 4 === 1 ? characters.slice(0, -1) : characters);
    return bytes === null ? [] : [[bytes, ['KEY_DECODED_WITH_PREFIX']] satisfies [Bytes, PlainCode[]]];
  });
}

interface Prefix {
  prefix: string;
  codes: PlainCode[];
  isOtherTimestamp: boolean;
}

function prefixesOf({ name, id, timestamps }: SearchedScheme): Prefix[] {
  const ids = id === null ? [] : [id, ...decodedId(id)];
  const withIds = (timestamp: string, extra: PlainCode[]): Omit<Prefix, 'isOtherTimestamp'>[] =>
    ids.map((one, index) => ({
      prefix: `${one}.${timestamp}.`,
      codes: index === 0 ? extra : [...extra, 'ID_ENCODED'],
    }));
  const prefixes = timestamps.flatMap(({ text: timestamp, isOfOtherScheme }) => {
    const withoutId = `${timestamp}.`;
    const found =
      name === 'standard'
        ? [...withIds(timestamp, []), { prefix: withoutId, codes: ['CONTENT_WITHOUT_ID' as const] }]
        : [{ prefix: withoutId, codes: [] }, ...withIds(timestamp, ['CONTENT_WITH_ID'])];
    return found.map((one) => ({ ...one, isOtherTimestamp: isOfOtherScheme }));
  });
  return [...prefixes, { prefix: '', codes: ['CONTENT_ONLY_BODY'], isOtherTimestamp: false }];
}

function decodedId(id: string): string[] {
  try {
    const decoded = decodeURIComponent(id);
    return decoded === id ? [] : [decoded];
  } catch {
    return [];
  }
}

function importKey(key: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

function joined(start: Bytes, body: Bytes): Bytes {
  const content = new Uint8Array(start.length + body.length);
  content.set(start);
  content.set(body, start.length);
  return content;
}

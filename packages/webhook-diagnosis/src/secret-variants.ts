import { isWebhookSecret } from '@deedwire/webhook-signing/web';
import { hexBytes, looseBase64, toBase64, utf8Text } from './bytes.ts';
import { type Undo, type Variant, variantsOf } from './variants.ts';

const prefix = 'whsec_';

// A secret of 64 bytes, encoded several times. Keeps the patterns below fast.
const lengthMax = 1_000;

/** The valid secrets that a configured one may stand for. */
export function secretVariants(secret: string): Variant<string>[] {
  // 64 hexadecimal digits are also the base64 of 48 bytes.
  if (isValid(secret)) return variantsOf(secret, [hex], 1, isSame);
  if (secret.length > lengthMax) return [];
  return variantsOf(secret, undos, 3, isSame).filter(({ value }) => isValid(value));
}

const isValid = (secret: string): boolean => isWebhookSecret(secret);

const isSame = (a: string, b: string): boolean => a === b;

const hex: Undo<string> = ['SECRET_HEX', (secret) => mapKey(secret, hexBytes)];

/** Each of the secrets in a text. There are at most ten. */
const joined = Array.from({ length: 10 }, (_, index): Undo<string> => [
  'SECRETS_JOINED',
  (text) => {
    const secrets = text.split(/[\s,;|"'[\]]+/).filter((each) => each !== '');
    return secrets.length > 1 && secrets.every(isValid) ? (secrets[index] ?? null) : null;
  },
]);

const undos: readonly Undo<string>[] = [
  ['SECRET_WITH_VERSION', (secret) => /^v\d[a-z]?[,=:\s]\s*(whsec_.*)$/is.exec(secret)?.[1] ?? null],
  ['SECRET_WITH_SCHEME', (secret) => /^bearer\s+(whsec_.*)$/is.exec(secret)?.[1] ?? null],
  ...joined,
  ['SECRET_WHITESPACE', (secret) => (secret.trim() === secret ? null : secret.trim())],
  ['SECRET_QUOTED', (secret) => /^(["'`])(.*)\1$/s.exec(secret)?.[2] ?? null],
  ['SECRET_NAME_INCLUDED', (secret) => /^(?:export\s+)?\w+\s*[=:]\s*(.*\S.*)$/s.exec(secret)?.[1] ?? null],
  ['SECRET_PREFIX_DOUBLED', (secret) => (secret.startsWith(prefix + prefix) ? secret.slice(prefix.length) : null)],
  ['SECRET_URL_ENCODED', percentDecoded],
  ['SECRET_URL_DECODED', (secret) => (/\S \S/.test(secret) ? secret.replaceAll(' ', '+') : null)],
  ['SECRET_WHITESPACE', (secret) => (/\s/.test(secret) ? secret.replaceAll(/\s/g, '') : null)],
  ['SECRET_PREFIX_MISSING', (secret) => (secret.startsWith(prefix) ? null : prefix + secret)],
  hex,
  ['SECRET_BASE64URL', (secret) => mapKey(secret, looseBase64)],
  ['SECRET_ENCODED_TWICE', decodedSecret],
];

function mapKey(secret: string, read: (text: string) => Uint8Array | null): string | null {
  const bytes = secret.startsWith(prefix) ? read(secret.slice(prefix.length)) : null;
  return bytes === null ? null : prefix + toBase64(bytes);
}

function percentDecoded(secret: string): string | null {
  try {
    return secret.includes('%') ? decodeURIComponent(secret) : null;
  } catch {
    return null;
  }
}

function decodedSecret(secret: string): string | null {
  const bytes = looseBase64(secret);
  const text = bytes === null ? null : utf8Text(bytes);
  return text?.startsWith(prefix) === true ? text : null;
}

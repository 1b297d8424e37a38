import { canonicalBase64Bytes, fromBase64, toBase64, utf8 } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';
import { secretPrefix, type SchemeName } from './schemes.ts';

const generatedBytes = 32;
// The bounds of the Standard Webhooks specification.
const minBytes = 24;
const maxBytes = 64;

/** Returns a new secret: `whsec_` followed by the base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return secretPrefix + toBase64(crypto.getRandomValues(new Uint8Array(generatedBytes)));
}

/** Returns true for `whsec_` followed by the canonical base64 of 24 to 64 bytes, the only format that Deedwire accepts. */
export function isWebhookSecret(value: unknown): value is string {
  if (typeof value !== 'string' || !value.startsWith(secretPrefix)) return false;
  const bytes = canonicalBase64Bytes(value.slice(secretPrefix.length));
  return bytes !== null && bytes >= minBytes && bytes <= maxBytes;
}

/** Returns what is wrong with a webhook secret and how to fix it, without the secret. Null if it is valid. */
export function webhookSecretProblem(value: unknown): string | null {
  return isWebhookSecret(value) ? null : problemOf(value);
}

/** The last valid secret. A receiver has one, and a sender signs many deliveries of a subscription in a row. */
let lastValid: string | null = null;

/** @throws {WebhookUsageError} when `secret` is not a webhook secret: `SECRET_INVALID`. The message does not contain the secret. */
export function checkSecret(secret: unknown): asserts secret is string {
  if (secret === lastValid) return;
  if (!isWebhookSecret(secret)) throw new WebhookUsageError('SECRET_INVALID', problemOf(secret));
  lastValid = secret;
}

/**
 * Returns the HMAC key that a scheme derives from a valid secret: the UTF-8 bytes of the whole string for the service's
 * own scheme, the decoded bytes of the base64 part for Standard Webhooks.
 */
export function secretKey(scheme: SchemeName, secret: string): Uint8Array<ArrayBuffer> {
  return scheme === 'service' ? utf8(secret) : fromBase64(secret.slice(secretPrefix.length));
}

/** What people configure with a secret. No other text is shown: it may be a secret. */
const beside = /^(?:(?:export )?[A-Z_]{1,40}=|v\da?\W|[Bb]earer )(?=\W{0,9}whsec_)|^["'`]/;

function problemOf(value: unknown): string {
  const format = `A webhook secret is "${secretPrefix}" followed by the base64 of ${minBytes} to ${maxBytes} bytes.`;
  if (value === undefined || value === '')
    return `The secret is ${value === '' ? 'empty' : 'undefined'}. Check that it is configured. ${format}`;
  if (typeof value !== 'string') return `The secret is not a string. ${format}`;
  if (/\Wwhsec_/.test(value.slice(value.indexOf(secretPrefix) + 1)))
    return `The text contains several secrets. Pass an array, or to commands a line for each. ${format}`;
  if (value.trim() !== value)
    return `The secret starts or ends with white space, such as a line feed. Remove it. ${format}`;
  const [found] = beside.exec(value) ?? [];
  if (found !== undefined) return `The secret begins with ${JSON.stringify(found)}. Remove that. ${format}`;
  if (!value.startsWith(secretPrefix))
    return `The secret does not start with "${secretPrefix}". Pass the whole secret. ${format}`;
  return `What follows "${secretPrefix}" is not padded, canonical base64 of the right length. ${format}`;
}

import { fromCanonicalBase64, toBase64, utf8 } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';

const prefix = 'whsec_';
const generatedBytes = 32;
// The bounds of the Standard Webhooks specification.
const minBytes = 24;
const maxBytes = 64;

/** Returns a new secret: `whsec_` followed by the base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return prefix + toBase64(crypto.getRandomValues(new Uint8Array(generatedBytes)));
}

/** Returns true for `whsec_` followed by the canonical base64 of 24 to 64 bytes, the only format that Deedwire accepts. */
export function isWebhookSecret(value: unknown): value is string {
  return secretBytes(value) !== null;
}

/** The two HMAC keys that are derived from one secret. */
export interface SecretKeys {
  /** The UTF-8 bytes of the whole string, prefix included, for the X-Service scheme. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** The decoded bytes of the base64 part, for Standard Webhooks. */
  readonly decoded: Uint8Array<ArrayBuffer>;
}

/** @throws {WebhookUsageError} when `secret` is not a webhook secret: `SECRET_INVALID`. The message does not contain the secret. */
export function secretKeys(secret: unknown): SecretKeys {
  const decoded = secretBytes(secret);
  if (decoded === null || typeof secret !== 'string') {
    throw new WebhookUsageError('SECRET_INVALID', secretProblem(secret));
  }
  return { text: utf8(secret), decoded };
}

function secretBytes(value: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof value !== 'string' || !value.startsWith(prefix)) return null;
  const bytes = fromCanonicalBase64(value.slice(prefix.length));
  return bytes !== null && bytes.length >= minBytes && bytes.length <= maxBytes ? bytes : null;
}

function secretProblem(value: unknown): string {
  const format = `A webhook secret is "${prefix}" followed by the base64 of ${minBytes} to ${maxBytes} bytes.`;
  if (value === undefined || value === '')
    return `The secret is ${value === '' ? 'empty' : 'undefined'}. Check that it is configured. ${format}`;
  if (typeof value !== 'string') return `The secret is not a string. ${format}`;
  if (value.trim() !== value) return `The secret starts or ends with white space. Remove it. ${format}`;
  if (!value.startsWith(prefix)) return `The secret does not start with "${prefix}". Pass the whole secret. ${format}`;
  return `The part of the secret after "${prefix}" is not padded, canonical base64 of the right length. ${format}`;
}

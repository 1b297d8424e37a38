import { fromCanonicalBase64, toBase64, utf8 } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';

const prefix = 'whsec_';
const generatedBytes = 32;
// The bounds of the Standard Webhooks specification.
const minBytes = 24;
const maxBytes = 64;

/** A new secret: `whsec_` and the base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return prefix + toBase64(crypto.getRandomValues(new Uint8Array(generatedBytes)));
}

/** True for `whsec_` and the canonical base64 of 24 to 64 bytes: the secrets that Deedwire issues and accepts. */
export function isWebhookSecret(value: unknown): value is string {
  return secretBytes(value) !== null;
}

/** The two keys that one secret stands for. */
export interface SecretKeys {
  /** UTF-8 bytes of the whole string, prefix included: the X-Service scheme. */
  readonly text: Uint8Array<ArrayBuffer>;
  /** The bytes that the base64 part decodes to: Standard Webhooks. */
  readonly decoded: Uint8Array<ArrayBuffer>;
}

/** @throws WebhookUsageError `SECRET_INVALID`, without the secret in its message. */
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
  const form = `a webhook secret is "${prefix}" and the base64 of ${minBytes} to ${maxBytes} bytes`;
  if (value === undefined || value === '')
    return `The secret is ${value === '' ? 'empty' : 'undefined'}: ${form}. Is it configured?`;
  if (typeof value !== 'string') return `The secret is not a string: ${form}.`;
  if (value.trim() !== value) return `The secret has white space around it: ${form}.`;
  if (!value.startsWith(prefix)) return `The secret does not start with "${prefix}": ${form}; pass it whole.`;
  return `The part of the secret after "${prefix}" is not padded, canonical base64 of the right length: ${form}.`;
}

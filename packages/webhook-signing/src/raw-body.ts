import { utf8 } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';

/** @throws {WebhookUsageError} when `body` is neither a string nor a Uint8Array: `BODY_NOT_RAW`. */
export function rawBody(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return utf8(body);
  if (isUint8Array(body)) return body;
  throw new WebhookUsageError(
    'BODY_NOT_RAW',
    `The body must be a string or a Uint8Array with the bytes received, but ${bodyProblem(body)}`,
  );
}

// `instanceof` is false for bytes from another realm, such as a test runner's sandbox or an iframe.
function isUint8Array(value: unknown): value is Uint8Array<ArrayBuffer> {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

function bodyProblem(body: unknown): string {
  if (body === undefined || body === null) return `it is ${String(body)}. Check whether a body parser has read it.`;
  const kind = Object.prototype.toString.call(body);
  if (kind === '[object ArrayBuffer]') return 'it is an ArrayBuffer. Pass a Uint8Array.';
  if (kind === '[object Object]' || kind === '[object Array]') {
    return 'it is a parsed object. JSON.stringify may produce other bytes.';
  }
  return `it is ${kind}.`;
}

import { utf8 } from './encoding.ts';
import { WebhookUsageError } from './errors.ts';

/** @throws WebhookUsageError `BODY_NOT_RAW` */
export function rawBody(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return utf8(body);
  if (isUint8Array(body)) return body;
  throw new WebhookUsageError(
    'BODY_NOT_RAW',
    `The body must be a string or a Uint8Array with the raw bytes of the request: ${bodyProblem(body)}`,
  );
}

// Not `instanceof`, which is false for bytes from another realm (a test runner's sandbox, an iframe).
function isUint8Array(value: unknown): value is Uint8Array<ArrayBuffer> {
  return Object.prototype.toString.call(value) === '[object Uint8Array]';
}

function bodyProblem(body: unknown): string {
  if (body === undefined || body === null) return `it is ${String(body)}. Was it read before, by a body parser?`;
  const kind = Object.prototype.toString.call(body);
  if (kind === '[object ArrayBuffer]') return 'it is an ArrayBuffer; pass new Uint8Array(buffer).';
  if (kind === '[object Object]' || kind === '[object Array]') {
    return 'it is a parsed object. Signatures are over the bytes as sent; JSON.stringify of the parsed value need not give them back.';
  }
  return `it is ${kind}.`;
}

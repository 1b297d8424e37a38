import type { WebhookRequestHeaders } from '@deedwire/webhook-signing/web';
import { type EventHeaders, nameOf } from './event-headers.ts';
import type { UnsignedHeaders } from './handlers.ts';

/** @param prefix of their names. Undefined: they are not read. */
export function unsignedHeaders(headers: WebhookRequestHeaders, prefix: string | undefined): UnsignedHeaders {
  const read = (name: keyof EventHeaders): string | null =>
    prefix === undefined ? null : header(headers, nameOf(prefix, name));
  return {
    subscriptionId: read('subscription-id'),
    sequence: count(read('sequence')),
    attempt: count(read('attempt')),
    isTest: read('test') === 'true',
    isReplay: read('replay') === 'true',
  };
}

/** @param wanted in lower case */
function header(headers: WebhookRequestHeaders, wanted: string): string | null {
  if (typeof headers.get === 'function') return headers.get(wanted);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === wanted);
  // Node gives an array for each name.
  return found?.slice(1).flat()[0] ?? null;
}

function count(value: string | null): number | null {
  return /^[1-9]\d{0,14}$/.test(value ?? '') ? Number(value) : null;
}

import type { WebhookRequestHeaders } from '@deedwire/webhook-signing/web';
import type { UnsignedHeaders } from './handlers.ts';

export function unsignedHeaders(headers: WebhookRequestHeaders): UnsignedHeaders {
  return {
    subscriptionId: header(headers, 'subscription-id'),
    sequence: count(header(headers, 'sequence')),
    attempt: count(header(headers, 'attempt')),
    isTest: header(headers, 'test') === 'true',
    isReplay: header(headers, 'replay') === 'true',
  };
}

/** @param name without the prefix that they share */
function header(headers: WebhookRequestHeaders, name: string): string | null {
  const wanted = `x-service-webhook-${name}`;
  if (typeof headers.get === 'function') return headers.get(wanted);
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === wanted);
  // Node gives an array for each name.
  return found?.slice(1).flat()[0] ?? null;
}

function count(value: string | null): number | null {
  return /^[1-9]\d{0,14}$/.test(value ?? '') ? Number(value) : null;
}

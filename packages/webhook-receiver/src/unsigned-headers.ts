import type { WebhookRequestHeaders } from '@deedwire/webhook-signing/web';
import type { UnsignedHeaders } from './handlers.ts';

export function unsignedHeaders(headers: WebhookRequestHeaders): UnsignedHeaders {
  return {
    subscriptionId: header(headers, 'x-service-webhook-subscription-id'),
    sequence: count(header(headers, 'x-service-webhook-sequence')),
    attempt: count(header(headers, 'x-service-webhook-attempt')),
    isTest: header(headers, 'x-service-webhook-test') === 'true',
  };
}

function header(headers: WebhookRequestHeaders, wanted: string): string | null {
  if (typeof headers.get === 'function') return headers.get(wanted);
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === wanted) ?? [];
  // Node gives an array for each name.
  return [value].flat()[0] ?? null;
}

function count(value: string | null): number | null {
  return value !== null && /^[1-9]\d{0,14}$/.test(value) ? Number(value) : null;
}

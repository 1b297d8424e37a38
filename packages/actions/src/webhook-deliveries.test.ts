import { toRecordId } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { toWebhookAttempt } from './webhook-deliveries.ts';

const row = {
  deliveryId: toRecordId<'WebhookDelivery'>('1'),
  number: 1,
  startedAt: new Date(0),
  durationMs: 5,
  responseStatus: null,
};

test.each([
  [null, null],
  ['ADDRESS_FORBIDDEN', 'ADDRESS_FORBIDDEN'],
  ['TLS_FAILED', 'TLS_FAILED'],
  ['OF_A_NEWER_BUILD', 'PROTOCOL_ERROR'],
])('shows the stored error %s as %s', (error, expected) => {
  expect(toWebhookAttempt({ ...row, error }).error).toBe(expected);
});

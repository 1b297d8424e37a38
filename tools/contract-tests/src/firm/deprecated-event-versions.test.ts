import { webhookEventTypes } from '@deedwire/webhook-events';
import { createDeprecationHeaders } from '@deedwire/worker/deprecation-headers';
import { expect, test } from 'vitest';

test('the registry of event types has a deprecation for each deprecated version', () => {
  const headers = createDeprecationHeaders(webhookEventTypes, 'https://docs.example');
  const silent = webhookEventTypes.flatMap(({ type, versions }) =>
    versions.filter(({ version, status }) => (status === 'deprecated') !== (headers(type, version) !== undefined)),
  );
  expect(silent).toEqual([]);
});

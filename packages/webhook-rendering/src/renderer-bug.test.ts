import { toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { RenderError } from '@deedwire/webhooks/renderer';
import { expect, test } from 'vitest';
import { createRenderer } from './renderer.ts';

const message = 'Hello.';
const render = () => ({ message, internal: 'secret' });
const events = testService.events.map((event) => ({
  ...event,
  versions: event.versions.map((version) => ({ ...version, render })),
}));

test('rejects a payload with a field that is not published', () => {
  const event = {
    id: toRecordId<'WebhookEvent'>('5'),
    accountId: toRecordId<'Account'>('6'),
    interfaceName: 'customer',
    type: 'webhook.test',
    recordId: null,
    aboutSubscriptionId: null,
    occurredAt: new Date(),
    snapshot: {},
    requestId: null,
    isTest: false,
  } as const;
  const rendered = () => createRenderer({ events }, 'service').render(event, '2026-11-01');
  expect(rendered).toThrow(RenderError);
  expect(rendered).toThrow('unrecognized_keys');
  expect(rendered).not.toThrow('secret');
});

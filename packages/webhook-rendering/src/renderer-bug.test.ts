import { toRecordId } from '@deedwire/domain';
import { RenderError } from '@deedwire/webhooks/renderer';
import { expect, test } from 'vitest';
import { renderers } from './generated/renderers.ts';
import { createRenderer } from './renderer.ts';

const message = 'Hello.';
const withBug = { ...renderers, 'webhook.test': { '2026-11-01': () => ({ message, internal: 'secret' }) } };

test('rejects a payload with a field that is not published', () => {
  const event = {
    id: toRecordId<'WebhookEvent'>('5'),
    accountId: toRecordId<'Partner'>('6'),
    interfaceName: 'partner',
    type: 'webhook.test',
    recordId: null,
    aboutSubscriptionId: null,
    occurredAt: new Date(),
    snapshot: {},
    requestId: null,
    isTest: false,
  } as const;
  const render = () => createRenderer('service', withBug).render(event, '2026-11-01');
  expect(render).toThrow(RenderError);
  expect(render).toThrow('unrecognized_keys');
  expect(render).not.toThrow('secret');
});

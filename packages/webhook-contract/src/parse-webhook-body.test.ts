import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsedEventNames, parseWebhookBody, webhookEventTypes } from './index.ts';

const typicalBody = (name: string): string =>
  readFileSync(new URL(`../fixtures/${name}/accept/typical.json`, import.meta.url), 'utf8');

test('has the events of the platform only', () => {
  expect(webhookEventTypes.map(({ type }) => type.replace(/\..*/, ''))).toEqual([
    ...Array.from({ length: 4 }, () => 'api_key'),
    'webhook',
    'webhook_delivery',
    ...Array.from({ length: 3 }, () => 'webhook_subscription'),
  ]);
});

test.each(parsedEventNames())('parses the typical body of %s', (name) => {
  const text = typicalBody(name);
  expect(parseWebhookBody(text)).toEqual({ kind: 'event', event: JSON.parse(text) });
});

test('returns the event of an application as an unknown event', () => {
  const event = { ...JSON.parse(typicalBody('webhook.test/2026-11-01')), type: 'order.paid' };
  expect(parseWebhookBody(JSON.stringify(event))).toEqual({ kind: 'unknown_event', event });
});

import { readFileSync } from 'node:fs';
import { versions as lenderVersions } from '@deedwire/lender-schema';
import { versions as partnerVersions } from '@deedwire/partner-schema';
import { maxPayloadBytes } from '@deedwire/webhooks';
import { expect, test } from 'vitest';

test.each([
  ...lenderVersions.map(({ version }) => `@deedwire/lender-schema/${version}.manifest.json`),
  ...partnerVersions.map(({ version }) => `@deedwire/partner-schema/${version}.manifest.json`),
])('%s states the largest payload that the worker sends', (path) => {
  const manifest = JSON.parse(readFileSync(new URL(import.meta.resolve(path)), 'utf8'));
  expect(manifest.limits.webhookPayloadBytes).toEqual({ value: maxPayloadBytes, bounds: 'output' });
});

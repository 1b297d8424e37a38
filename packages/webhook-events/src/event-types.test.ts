import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findEventType, findEventVersion, webhookEventTypes } from './event-types.ts';
import { currentVersion, webhookEventTypes as registeredEventTypes } from './registry.ts';

const everyInterface = findEventType('webhook.test')?.interfaces.join();
const interfacesOf = (interfaces: readonly string[]): string =>
  interfaces.join() === everyInterface ? 'all' : interfaces.join();

describe('the registry', () => {
  // Literals on purpose: a released version cannot vanish, and a release or a change of a status has to be confirmed here.
  test('contains exactly these released versions', () => {
    expect(
      webhookEventTypes.flatMap(({ type, interfaces, versions }) =>
        versions
          .filter(({ status }) => status !== 'preview')
          .map(({ version, status, sunsetOn }) => [type, interfacesOf(interfaces), version, status, sunsetOn]),
      ),
    ).toEqual([
      ['api_key.created', 'all', '2026-11-01', 'current', null],
      ['api_key.expiring', 'all', '2026-11-01', 'current', null],
      ['api_key.revoked', 'all', '2026-11-01', 'current', null],
      ['api_key.rotated', 'all', '2026-11-01', 'current', null],
      ['lender.updated', 'lender', '2026-11-01', 'current', null],
      ['referral.converted', 'partner', '2026-11-01', 'current', null],
      ['referral.created', 'partner', '2026-11-01', 'current', null],
      ['referral.declined', 'partner', '2026-11-01', 'current', null],
      ['team_member.added', 'lender', '2026-11-01', 'current', null],
      ['team_member.removed', 'lender', '2026-11-01', 'current', null],
      ['team_member.updated', 'lender', '2026-11-01', 'current', null],
      ['webhook.test', 'all', '2026-11-01', 'current', null],
      ['webhook_delivery.failed', 'all', '2026-11-01', 'current', null],
      ['webhook_subscription.disrupted', 'all', '2026-11-01', 'current', null],
      ['webhook_subscription.paused', 'all', '2026-11-01', 'current', null],
      ['webhook_subscription.recovered', 'all', '2026-11-01', 'current', null],
    ]);
  });

  test('is the same without schemas', () => {
    for (const [index, { versions, ...eventType }] of registeredEventTypes.entries()) {
      expect(webhookEventTypes[index]).toMatchObject(eventType);
      expect(webhookEventTypes[index]?.versions).toMatchObject(versions);
    }
    expect(registeredEventTypes.map(({ type }) => type)).toEqual(webhookEventTypes.map(({ type }) => type));
    expect(registeredEventTypes.flatMap(({ versions }) => versions.flatMap(Object.keys))).not.toContain('body');
  });

  test('describes each type in one sentence', () => {
    for (const { description } of webhookEventTypes) expect(description).toMatch(/^[A-Z][^.]+\.$/);
  });

  test('finds event types and versions by name', () => {
    expect(findEventType('referral.converted')?.interfaces).toEqual(['partner']);
    expect(findEventType('referral.unknown')).toBeUndefined();
    expect(findEventVersion('referral.converted', '2026-11-01')?.version).toBe('2026-11-01');
    expect(findEventVersion('referral.converted', '2026-11-02')).toBeUndefined();
    expect(findEventVersion('toString', '2026-11-01')).toBeUndefined();
    expect(currentVersion('referral.converted')).toBe('2026-11-01');
    expect(() => currentVersion('referral.unknown')).toThrow(RangeError);
  });
});

interface PackageManifest {
  exports: Record<string, string | Record<string, string>>;
  publishConfig: { exports: Record<string, unknown> };
}

const manifest: PackageManifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

test('publishes exactly these exports', () => {
  expect(manifest.publishConfig.exports).toEqual({
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './asyncapi/*.json': './asyncapi/*.json',
    './delivery-headers.json': './delivery-headers.json',
    './event-types.json': './event-types.json',
    './json-schema/*.json': './json-schema/*.json',
    './package.json': './package.json',
    './registry': { types: './dist/registry.d.ts', default: './dist/registry.js' },
    './versions.json': './versions.json',
    // `<event type>/<date>`: the pattern also covers new types and versions.
    './*': { types: './dist/generated/payloads/*.d.ts', default: './dist/generated/payloads/*.js' },
  });
});

test('exposes the same exports inside the workspace', () => {
  const withoutSources = Object.entries(manifest.exports).map(([path, target]) => {
    if (typeof target === 'string') return [path, target];
    const { 'deedwire-source': _, ...published } = target;
    return [path, published];
  });
  expect(Object.fromEntries(withoutSources)).toEqual(manifest.publishConfig.exports);
});

import { afterEach, expect, test, vi } from 'vitest';

// Other test files of this process must see the real event types.
afterEach(() => {
  vi.doUnmock('@deedwire/webhook-events');
  vi.resetModules();
});

test('requires a version for an event type without a released version', async () => {
  vi.doMock('@deedwire/webhook-events', () => ({
    findEventType: (type: string) => ({
      type,
      interfaces: ['partner'],
      versions: [{ version: '2027-02-01', status: 'preview', deprecatedOn: null, sunsetOn: null }],
    }),
    webhookEventTypes: [],
  }));
  vi.resetModules();
  const { chooseEventTypes } = await import('./webhook-event-types.ts');
  const choose = (version?: string) =>
    chooseEventTypes('partner', [{ type: 'matter.closed', version }], [], new Date('2026-11-20T00:00:00Z'));

  expect(choose('2027-02-01')).toEqual({
    eventTypes: [{ type: 'matter.closed', version: '2027-02-01' }],
    userErrors: [],
  });
  expect(choose().userErrors).toEqual([
    {
      code: 'EVENT_VERSION_UNKNOWN',
      message: '"matter.closed" has no released version yet. Name one of: 2027-02-01.',
      field: ['input', 'eventTypes', '0', 'version'],
    },
  ]);
});

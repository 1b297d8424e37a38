import { expect, test, vi } from 'vitest';
import { chooseEventTypes } from './choose-event-types.ts';

vi.mock('@deedwire/webhook-events', () => ({
  findEventType: (type: string) => ({
    type,
    interfaces: ['partner'],
    versions: [{ version: '2027-02-01', status: 'preview', deprecatedOn: null, sunsetOn: null }],
  }),
  webhookEventTypes: [],
}));

const choose = (version?: string) =>
  chooseEventTypes('partner', [{ type: 'matter.closed', version }], [], new Date('2026-11-20T00:00:00Z'));

test('requires a version for an event type without a released version', () => {
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

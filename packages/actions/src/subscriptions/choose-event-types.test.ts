import { testService } from '@deedwire/core/test-service';
import { missing } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { chooseEventTypes } from './webhook-event-types.ts';

const [known = missing()] = testService.events;
const versions = known.versions
  .slice(0, 1)
  .map((each) => ({ ...each, version: '2027-02-01', status: 'preview' as const }));
const service = {
  ...testService,
  events: [...testService.events, { ...known, type: 'order.closed', interfaces: ['customer'], versions }],
};

const choose = (version?: string) =>
  chooseEventTypes(service, 'customer', [{ type: 'order.closed', version }], [], new Date('2026-11-20T00:00:00Z'));

test('requires a version for an event type without a released version', () => {
  expect(choose('2027-02-01')).toEqual({
    eventTypes: [{ type: 'order.closed', version: '2027-02-01' }],
    userErrors: [],
  });
  expect(choose().userErrors).toEqual([
    {
      code: 'EVENT_VERSION_UNKNOWN',
      message: '"order.closed" has no released version yet. Name one of: 2027-02-01.',
      field: ['input', 'eventTypes', '0', 'version'],
    },
  ]);
});

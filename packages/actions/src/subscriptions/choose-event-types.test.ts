import { testFirm } from '@deedwire/core/test-firm';
import { missing } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { chooseEventTypes } from './webhook-event-types.ts';

const [known = missing()] = testFirm.events;
const versions = known.versions
  .slice(0, 1)
  .map((each) => ({ ...each, version: '2027-02-01', status: 'preview' as const }));
const service = {
  ...testFirm,
  events: [...testFirm.events, { ...known, type: 'matter.closed', interfaces: ['partner'], versions }],
};

const choose = (version?: string) =>
  chooseEventTypes(service, 'partner', [{ type: 'matter.closed', version }], [], new Date('2026-11-20T00:00:00Z'));

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

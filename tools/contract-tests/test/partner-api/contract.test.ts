import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { expect, test } from 'vitest';

test('every promised version is served by a schema that is equal to its SDL', () => {
  expect(partnerInterface.contract.problems).toEqual([]);
  expect(partnerInterface.contract.versions.map(({ version }) => version)).toEqual(['2026-11-01']);
});

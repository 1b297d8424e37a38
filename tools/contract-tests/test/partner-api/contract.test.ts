import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { expect, test } from 'vitest';

test('serves each version with a schema that equals its SDL', () => {
  expect(partnerInterface.contract.problems).toEqual([]);
  expect(partnerInterface.contract.versions.map(({ version }) => version)).toEqual(['2026-11-01']);
});

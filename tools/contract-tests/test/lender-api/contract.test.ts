import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { expect, test } from 'vitest';

test('serves each version with a schema that equals its SDL', () => {
  expect(lenderInterface.contract.problems).toEqual([]);
  expect(lenderInterface.contract.versions.map(({ version }) => version)).toEqual(['2026-11-01', '2027-02-01']);
});

import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { versions } from '@deedwire/lender-schema';
import { expect, test } from 'vitest';

test('serves each version with a schema that equals its SDL', () => {
  expect(lenderInterface.contract.problems).toEqual([]);
  expect(lenderInterface.contract.versions.map(({ version }) => version)).toEqual(
    versions.filter(({ status }) => status !== 'retired').map(({ version }) => version),
  );
});

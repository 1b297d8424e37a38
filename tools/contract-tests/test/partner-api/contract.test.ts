import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { versions } from '@deedwire/partner-schema';
import { expect, test } from 'vitest';

test('serves each version with a schema that equals its SDL', () => {
  expect(partnerInterface.contract.problems).toEqual([]);
  expect(partnerInterface.contract.versions.map(({ version }) => version)).toEqual(
    versions.filter(({ status }) => status !== 'retired').map(({ version }) => version),
  );
});

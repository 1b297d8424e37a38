import { createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { readTextColumns } from '../support/text-columns.ts';

// Those of the platform: `../personal-columns.test.ts`.

/** Holds what identifies a person. `full/person-erase.test.ts` looks for it. */
const erased = [
  'referral.client_email',
  'referral.client_name',
  'referral.decline_reason',
  'referral.external_reference',
  'referral.note',
  'team_member.email',
  'team_member.first_name',
  'team_member.last_name',
];

/** Enumerations, and numbers that the law firm drew. */
const withoutPersons = ['matter.reference', 'referral.status'];

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));

test('each column of the law firm that can hold text is erased, or is known to hold no person', async () => {
  const own = (await readTextColumns(superuser)).filter(({ interfaceName }) => interfaceName !== null);
  expect(own.map(({ name }) => name)).toEqual([...erased, ...withoutPersons].toSorted());
});

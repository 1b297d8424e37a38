import { joinSharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { addTeamMember } from '@deedwire/firm/lender';
import { createClient } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import * as newer from '../../consumers/loan-desk-next/generated/2027-02-01.ts';
import * as older from '../../consumers/loan-desk/generated/2026-11-01.ts';

const t = await forFile(joinSharedSystem());

const versionHeader = 'X-Service-Schema-Version';

test('serves two versions side by side, each in its own shape', async () => {
  const { credential } = t.accounts.lender;
  const preview = createClient(t.urls.lender, credential, { [versionHeader]: '2027-02-01' });
  const { lender: asList } = await t.lender.request(older.TeamDocument, {});
  const { lender: asConnection } = await preview.request(newer.TeamDocument, {});
  expect(asConnection.members.nodes).toEqual(asList.members);
  expect(asConnection.members.pageInfo.hasNextPage).toBe(false);
});

test('pages through all members in the order in which they were added', async () => {
  const lenderId = t.accounts.otherLender.id;
  for (let index = 0; index < 25; index += 1) {
    const number = String(index).padStart(2, '0');
    await addTeamMember(t.operator, { lenderId, firstName: 'P', lastName: number, email: `p${number}@example.com` });
  }
  const preview = createClient(t.urls.lender, t.accounts.otherLender.credential, { [versionHeader]: '2027-02-01' });
  const names: string[] = [];
  let after: string | null = null;
  do {
    const { lender }: newer.TeamQuery = await preview.request(newer.TeamDocument, { first: 10, after });
    names.push(...lender.members.nodes.map(({ lastName }) => lastName));
    after = lender.members.pageInfo.hasNextPage ? lender.members.pageInfo.endCursor : null;
  } while (after !== null);
  expect(names).toEqual(Array.from({ length: 25 }, (_, index) => String(index).padStart(2, '0')));
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMigratedDatabase } from '@deedwire/dev-environment/test/firm/harness';
import { interfaceNames } from '@deedwire/firm';
import { findTeamMemberProblems } from '@deedwire/firm/lender';
import { findReferralProblems, isDeclineReason } from '@deedwire/firm/partner';
import { versions as lenderVersions } from '@deedwire/lender-schema';
import { versions as partnerVersions } from '@deedwire/partner-schema';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';
import { columnBounds, email, type Length, letters } from '../support/column-bounds.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const person = { firstName: 'A', lastName: 'B', email: 'a@b.test' };
const isMember = (change: object): boolean => findTeamMemberProblems({ ...person, ...change }).length === 0;
const details = { clientName: 'A', clientEmail: null, externalReference: null, note: null };
const isReferral = (change: object): boolean => findReferralProblems({ ...details, ...change }).length === 0;

const lengths: Readonly<Record<string, Length>> = {
  'matter.reference': { max: 100 },
  'referral.client_email': { max: 254, value: email, accepts: (text) => isReferral({ clientEmail: text }) },
  'referral.client_name': { max: 200, accepts: (text) => isReferral({ clientName: text }) },
  'referral.decline_reason': { max: 1_000, accepts: isDeclineReason },
  'referral.external_reference': { max: 200, accepts: (text) => isReferral({ externalReference: text }) },
  'referral.note': { max: 5_000, accepts: (text) => isReferral({ note: text }) },
  'team_member.email': { max: 254, value: email, accepts: (text) => isMember({ email: text }) },
  'team_member.first_name': { max: 200, accepts: (text) => isMember({ firstName: text }) },
  'team_member.last_name': { max: 200, accepts: (text) => isMember({ lastName: text }) },
};

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const { writtenColumns, sharedColumns, accepts, acceptedOf } = columnBounds(superuser, interfaceNames);

/** Of the tables of the law firm. */
const isOwn = (name: string): boolean => /^(?:matter|referral|team_member)\./.test(name);

test('every column of the law firm that an app writes and another one reads has a fixed size or a bound', async () => {
  const all = (await sharedColumns('true')).filter(isOwn);
  expect(Object.keys(lengths).filter((name) => !all.includes(name))).toEqual([]);
  const unsized = (await sharedColumns('a.attlen = -1')).filter(isOwn);
  expect(unsized.filter((name) => !(name in lengths))).toEqual(['referral.status']);
});

test.each(Object.entries(lengths))('%s: database and code have the same bound', async (name, length) => {
  const { max, value = letters, accepts: isAccepted } = length;
  expect(await accepts(name, value(max))).toBe(true);
  expect(await accepts(name, value(max + 1))).toBe(false);
  if (isAccepted === undefined) return;
  expect(isAccepted(String(value(max)))).toBe(true);
  expect(isAccepted(String(value(max + 1)))).toBe(false);
});

test('the status of a referral is one that the code knows', async () => {
  expect(await acceptedOf('referral.status', ['OPEN', 'open'])).toEqual(['OPEN']);
});

test('the names of event types and versions are shorter than the columns', () => {
  const versions = [...lenderVersions, ...partnerVersions, ...webhookEventTypes.flatMap((type) => type.versions)];
  const names = [...webhookEventTypes.map(({ type }) => type), ...versions.map(({ version }) => version)];
  expect(names.filter(({ length }) => length > 100)).toEqual([]);
  // The triggers count so many event types of a subscription.
  expect(webhookEventTypes.length).toBeLessThanOrEqual(100);
});

test('docs/threats/claims.md says of every id of the law firm that an app may write what keeps it from naming a record of others', async () => {
  const page = readFileSync(join(workspaceRoot, 'docs/threats/claims.md'), 'utf8');
  const ids = await writtenColumns(`a.attname ~ '(^|_)id$' and a.atttypid = 'bigint'::regtype`);
  const own = ids.filter(isOwn);
  expect(own.length).toBeGreaterThan(2);
  expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

import { toRecordId } from '@deedwire/core';
import { explain, indexes, rowsRead } from '@deedwire/store/test-support';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { type ReferralFilter, selectClosedReferrals, selectReferrals } from '../src/referrals/referral-statements.ts';
import { createFirmDatabase } from './support/database.ts';

// All referrals belong to 20 accounts, one a second. The oldest ones belong to account 1, so that a plan that scans the records of all
// accounts reads all of them.
const fill = `
  insert into organization (id, name) select n, 'Test ' || n from generate_series(1, 2000) n;
  insert into account (id, interface, organization_id, name) select n, 'partner', 1, 'Test' from generate_series(1, 1000) n;
  insert into referral (id, account_id, client_name, external_reference, status, created_at, closed_at)
    select n::bigint * 1000 << 22, case when n <= 2000 then 1 else 2 + n % 19 end, 'Client', 'reference-' || n % 2, status, created_at,
      case when status <> 'OPEN' then created_at + interval '1 day' - interval '1 second' * (n % 1000) end
    from (
      select n, timestamptz '2026-01-01T00:00:00Z' + interval '1 second' * n as created_at,
        (array['OPEN', 'CONVERTED', 'DECLINED'])[1 + n / 4 % 3] as status
      from generate_series(1, 40000) n
    ) numbered;
  insert into matter (referral_id, reference) select id, 'M-' || id from referral where status = 'CONVERTED';
  analyze`;

const database = await forFile(createFirmDatabase());
const connection = await forFile(connect(database.databaseUrl));
await connection.run(fill);

const idOf = (number: number) => toRecordId<'Referral'>(String((BigInt(number) * 1000n) << 22n));

// PostgreSQL chooses between a generic and a custom plan at run time. Both must use the index.
describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  // A page far down a list must cost as much as the first page.
  describe.each<[string, number | null]>([
    ['the first page', null],
    ['a page far down', 1000],
  ])('%s', (_, after) => {
    const all = {
      accountId: toRecordId<'Account'>('1'),
      status: null,
      externalReference: null,
      createdFrom: null,
      createdBefore: null,
    };
    const from = new Date('2026-01-01T00:10:00.000Z');
    const before = new Date('2026-01-01T00:20:00.000Z');

    test.each<[string, string, Partial<ReferralFilter>]>([
      ['all', 'referral_by_account', {}],
      ['of a status', 'referral_by_account_and_status', { status: 'DECLINED' }],
      ['of a period', 'referral_by_account', { createdFrom: from, createdBefore: before }],
      ['of a status and a period', 'referral_by_account_and_status', { status: 'DECLINED', createdBefore: before }],
      ['with a reference', 'referral_by_reference', { externalReference: 'reference-1' }],
      ['with a reference, of a status', 'referral_by_reference', { externalReference: 'reference-1', status: 'OPEN' }],
      [
        'with a reference, of a period',
        'referral_by_reference',
        { externalReference: 'reference-1', createdFrom: from },
      ],
    ])('lists referrals, %s, by %s', async (_name, index, filter) => {
      const page = { afterId: after === null ? null : idOf(after), limit: 21 };
      const nodes = await explain(connection, mode, (db) => selectReferrals(db, { ...all, ...filter }, page));
      expect(new Set(indexes(nodes))).toEqual(new Set([index, 'matter_by_referral']));
      expect(rowsRead(nodes, 'referral')).toBeLessThanOrEqual(42);
    });

    const byReference = 'referral_by_reference_and_closing';
    const withReference = { externalReference: 'reference-1' };
    // With a period of creation, it compares at most 170.
    test.each<[string, string, number, Partial<ReferralFilter>]>([
      ['all', 'referral_by_closing', 63, {}],
      ['of a status', 'referral_by_closing', 63, { status: 'DECLINED' }],
      ['with a reference', byReference, 63, withReference],
      ['of a period', 'referral_by_closing', 171, { status: 'CONVERTED', createdFrom: from, createdBefore: before }],
      ['with a reference, of a period', byReference, 171, { ...withReference, status: 'DECLINED', createdFrom: from }],
    ])('lists closed referrals, %s, by %s, and reads at most %i', async (_name, index, most, filter) => {
      const closedFrom = new Date('2026-01-01T12:00:00.000Z');
      const position = { closedAt: new Date('2026-01-02T00:10:00.000Z'), id: idOf(1) };
      const page = { after: after === null ? null : position, limit: 21 };
      const nodes = await explain(connection, mode, (db) =>
        selectClosedReferrals(db, { ...all, closedFrom, ...filter }, page),
      );
      expect(new Set(indexes(nodes))).toEqual(new Set([index, 'matter_by_referral']));
      expect(rowsRead(nodes, 'referral')).toBeLessThanOrEqual(most);
    });
  });
});

import { idAt, toRecordId } from '@deedwire/core';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import type { Database, Statement } from '@deedwire/store';
import { explain } from '@deedwire/store/test-support';
import { connect, type Connection } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ClosedPosition,
  type ReferralFilter,
  type ReferralRow,
  selectClosedReferrals,
  selectReferrals,
} from '../../src/referrals/referral-statements.ts';
import { createFirmDatabase } from '../support/database.ts';

const accountId = toRecordId<'Account'>('1');
const startMs = Date.parse('2026-01-02T00:00:00.000Z');
const dayMs = 86_400_000;
const day = (days: number): Date => new Date(startMs + days * dayMs);

/**
 * 1,000,000 referrals within 300 days, 900,000 of them of account 1, between those of others. Each status is common and
 * DECLINED occurs only among the oldest 5 %. A reference has one referral, 1,000 of them, or 250,000. They are closed within 60
 * days, in another order.
 */
const fill = `
  insert into organization (id, name) values (1, 'Test');
  insert into account (id, interface, organization_id, name) select n, 'partner', 1, 'Test' from generate_series(1, 20) n;
  insert into referral (id, account_id, client_name, note, external_reference, status, created_at, closed_at)
    select ${idAt(day(0))}::bigint + (n::bigint * 25920 << 22), case when n % 10 = 0 then 2 + n % 19 else 1 end, 'Client', repeat('n', 200),
      case n % 4 when 1 then 'unique-' || n when 2 then 'group-' || n % 1000 when 3 then 'half' end,
      status, created_at, case when status <> 'OPEN' then created_at + interval '1 second' * (1 + (hashint4(n)::bigint + 2147483648) % 5184000) end
    from (
      select n, timestamptz '${day(0).toISOString()}' + interval '1 millisecond' * n * 25920 as created_at,
        case when n < 50000 and n % 7 = 0 then 'DECLINED' when n % 3 = 0 then 'OPEN' else 'CONVERTED' end as status
      from generate_series(1, 1000000) n
    ) numbered;
  insert into matter (referral_id, reference, opened_at) select id, 'M-' || id, closed_at from referral where status = 'CONVERTED' order by closed_at;
  vacuum (analyze) referral;
  vacuum (analyze) matter`;

let database: TestDatabase;
let api: Connection;

beforeAll(async () => {
  database = await createFirmDatabase();
  const superuser = await connect(database.databaseUrl);
  for (const statement of fill.split(';')) await superuser.run(statement);
  await superuser.close();
  api = await connect(await database.urlFor('partner_api'));
});

afterAll(async () => {
  await api.close();
  await database.drop();
});

const periods: [Date | null, Date | null][] = [
  [null, null],
  [day(10), null],
  [null, day(10)],
  [day(150), day(151)],
];

/** Every combination of the filters. */
const filters = [null, 'OPEN', 'CONVERTED', 'DECLINED'].flatMap((status) =>
  [null, 'unique-400001', 'group-402', 'half'].flatMap((externalReference) =>
    periods.flatMap(([createdFrom, createdBefore]) =>
      [null, day(1), day(290)].map((closedFrom) => ({
        status: status as ReferralFilter['status'],
        externalReference,
        createdFrom,
        createdBefore,
        closedFrom,
      })),
    ),
  ),
);

const limit = 101;

test('reads a page of 1,000,000 referrals with at most 500 buffers', async () => {
  const above: string[] = [];
  for (const { closedFrom, ...rest } of filters) {
    if (closedFrom !== null && rest.status === 'OPEN') continue; // runs no statement
    const filter = { accountId, ...rest };
    const read = async (db: Database, last: ReferralRow | undefined): Promise<ReferralRow[]> =>
      closedFrom === null
        ? selectReferrals(db, filter, { afterId: last?.id ?? null, limit })
        : (await selectClosedReferrals(db, { ...filter, closedFrom }, { after: positionOf(last), limit })).rows;
    const rows = await read(
      { query: async ({ text }, values) => (await api.run(text, [...values])) as never },
      undefined,
    );
    for (const last of [undefined, rows.at(-1)]) {
      let buffers = 0;
      // Each statement of the page. The last one depends on what the one before it finds.
      const measured: Database = {
        async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
          const [{ 'Shared Hit Blocks': hit, 'Shared Read Blocks': readFromDisk }] = await explain(
            api,
            'force_generic_plan',
            (db) => db.query(statement, values),
          );
          buffers += hit + readFromDisk;
          return (await api.run(statement.text, [...values])) as Row[];
        },
      };
      await read(measured, last);
      const line = `${buffers} buffers, ${last ? 'next' : 'first'} page: ${JSON.stringify({ ...rest, closedFrom })}`;
      process.stdout.write(`${line}\n`);
      if (buffers > 500) above.push(line);
    }
  }
  expect(above).toEqual([]);
});

function positionOf(row: ReferralRow | undefined): ClosedPosition | null {
  return row?.closedAt ? { closedAt: row.closedAt, id: row.id } : null;
}

import { toRecordId } from '@deedwire/domain';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { escapeLiteral } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selectAuditEntries, selectAuditEntriesAfter } from '../src/audit.ts';
import { selectApiKey } from '../src/credentials.ts';
import { beginInIndexOrder, type Database } from '../src/index.ts';
import { selectReferrals } from '../src/referrals.ts';
import { createMigratedDatabase } from './support/database.ts';

// All referrals belong to 20 accounts. The oldest ones belong to account 1, so that a plan that scans the records of all
// accounts reads all of them.
const fill = `
  insert into organization (id, name) values (1, 'Test');
  insert into account (id, interface, organization_id, name) select n, 'partner', 1, 'Test' from generate_series(1, 1000) n;
  insert into referral (id, account_id, client_name, status, closed_at)
    select n, case when n <= 2000 then 1 else 2 + n % 19 end, 'Client',
      case when n % 50 = 0 then 'DECLINED' else 'OPEN' end, case when n % 50 = 0 then now() end
    from generate_series(1, 40000) n;
  insert into api_client (id, account_id, interface, client_id, schema_version)
    select n, 1, 'partner', 'c' || n, '2026-11-01' from generate_series(1, 2000) n;
  insert into api_key (key_id, api_client_id, interface, key_hash)
    select 'k' || n, n, 'partner', decode(repeat('00', 32), 'hex') from generate_series(1, 2000) n;
  insert into audit_entry (actor_type, actor, action, subject)
    select 'OPERATOR', 'ada', 'referral.create', n::text from generate_series(1, 2000) n;
  analyze`;

let database: TestDatabase;
let connection: Connection;

beforeAll(async () => {
  database = await createMigratedDatabase();
  connection = await connect(database.databaseUrl);
  await connection.run(fill);
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/** Executes the statement of `work` as a prepared statement, planned as it asks for or by `mode`, and returns the nodes of its plan. */
async function explain(mode: string, work: (database: Database) => Promise<unknown>): Promise<PlanNode[]> {
  let nodes: PlanNode[] = [];
  await work({
    async query(statement, values) {
      const literals = values.map((value) => {
        if (value === null) return 'null';
        return escapeLiteral(
          Array.isArray(value) ? `{${value.join(',')}}` : typeof value === 'string' ? value : JSON.stringify(value),
        );
      });
      const isOrdered = statement.planning === 'in-index-order';
      await connection.run(isOrdered ? beginInIndexOrder() : `begin; set local plan_cache_mode = ${mode}`);
      await connection.run(`prepare explained as ${statement.text}`);
      const [row] = await connection.run(`explain (analyze, format json) execute explained (${literals.join(', ')})`);
      await connection.run('rollback; deallocate explained');
      const [{ Plan }] = (row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'];
      nodes = flatten(Plan);
      return [];
    },
  });
  return nodes;
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** The number of rows of a table that were read, including rows that a filter removed. */
function rowsRead(nodes: readonly PlanNode[], relation: string): number {
  return nodes
    .filter((node) => node['Relation Name'] === relation && node['Node Type'] !== 'ModifyTable')
    .map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
    .reduce((sum, rows) => sum + rows, 0);
}

/** The tables that were read as a whole. */
const scanned = (nodes: readonly PlanNode[]): string[] =>
  nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? '') : []));

const indexes = (nodes: readonly PlanNode[]): string[] => nodes.flatMap((node) => node['Index Name'] ?? []);

// PostgreSQL chooses between a generic and a custom plan at run time. Both must use the index.
describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  test('finds an API key by its id', async () => {
    const nodes = await explain(mode, (db) => selectApiKey(db, 'k77'));
    expect(indexes(nodes)).toContain('api_key_pkey');
    expect(scanned(nodes)).toEqual([]);
    expect(rowsRead(nodes, 'api_client')).toBe(1);
  });

  test('lists the audit log by the primary keys of its partitions', async () => {
    const nodes = await explain(mode, (db) => selectAuditEntries(db, 50));
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    expect(scanned(nodes)).toEqual([]);
  });

  test('exports the audit log by the primary keys of its partitions', async () => {
    const after = { at: new Date(), number: '1900' };
    const nodes = await explain(mode, (db) => selectAuditEntriesAfter(db, after, 50));
    expect(nodes.map((node) => node['Node Type'])).not.toContain('Sort');
    expect(scanned(nodes)).toEqual([]);
  });

  // A page far down a list must cost as much as the first page.
  describe.each<[string, string | null]>([
    ['the first page', null],
    ['a page far down', '1900'],
  ])('%s', (_, afterId) => {
    const accountId = toRecordId<'Partner'>('1');
    const page = { afterId: afterId === null ? null : toRecordId<never>(afterId), limit: 21 };

    test.each<[string, string, string, (database: Database) => Promise<unknown>]>([
      ['referrals', 'referral', 'referral_by_account', (db) => selectReferrals(db, { accountId, status: null }, page)],
      [
        'referrals of a status',
        'referral',
        'referral_by_account_and_status',
        (db) => selectReferrals(db, { accountId, status: 'DECLINED' }, page),
      ],
    ])('lists %s, from %s, by %s', async (_name, relation, index, list) => {
      const nodes = await explain(mode, list);
      expect(indexes(nodes)).toContain(index);
      expect(rowsRead(nodes, relation)).toBeLessThanOrEqual(42);
    });
  });
});

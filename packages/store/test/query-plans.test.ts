import { toRecordId } from '@deedwire/domain';
import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { escapeLiteral } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selectApiKey } from '../src/credentials.ts';
import type { Database } from '../src/index.ts';
import { selectReferrals } from '../src/referrals.ts';
import { selectDeliveries } from '../src/webhook-deliveries.ts';
import { leaseLanes, selectDueDeliveries } from '../src/webhook-dispatch.ts';
import { selectAccountsWithQueuedEvents, selectQueuedEvents } from '../src/webhook-fan-out.ts';
import { selectSubscriptions } from '../src/webhook-subscriptions.ts';
import { createMigratedDatabase } from './support/database.ts';
import { known } from './support/seed.ts';

// 1,000 accounts with 20 subscriptions each. All referrals, events and deliveries belong to 20 accounts. Those of account 1 are
// the oldest, so that a plan that scans the records of all accounts reads all of them. A tenth of the deliveries is pending,
// and a tenth of the lanes is due.
const fill = `
  insert into organization (id, name) values (1, 'Test');
  insert into account (id, interface, organization_id, name) select n, 'partner', 1, 'Test' from generate_series(1, 1000) n;
  insert into referral (id, account_id, client_name, status, closed_at)
    select n, case when n <= 2000 then 1 else 2 + n % 19 end, 'Client',
      case when n % 50 = 0 then 'DECLINED' else 'OPEN' end, case when n % 50 = 0 then now() end
    from generate_series(1, 40000) n;
  insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext)
    select n, case when n <= 40 then 1 else 1 + n % 1000 end, 'partner', 'https://a.test/', ''
    from generate_series(1, 20000) n;
  insert into webhook_subscription_event_type select id, interface, 'referral.created', '2026-11-01' from webhook_subscription;
  insert into webhook_lane (subscription_id, interface, due_at, owner, leased_until)
    select id, interface,
      case when id % 2 = 0 then now() + case when id % 10 = 0 then interval '-1 minute' else interval '1 hour' end end,
      case when id % 100 = 0 then 'a' end, case when id % 100 = 0 then now() + interval '10 seconds' end
    from webhook_subscription;
  insert into outbox_event (id, account_id, interface, event_type, snapshot, fanned_out_at)
    select n, case when n <= 2000 then 1 else 2 + n % 19 end, 'partner', 'referral.created', '{}',
      case when n <= 30000 then now() end
    from generate_series(1, 40000) n;
  insert into webhook_payload select id, '2026-11-01', 'partner', '{}' from outbox_event;
  insert into webhook_delivery (id, subscription_id, account_id, interface, event_id, event_version, sequence, status)
    select n, case when n > 2000 then 41 + n % 1900 when n % 2 = 0 then 2 else 1 + n % 20 end, e.account_id, 'partner', n, '2026-11-01', n,
      case when n % 10 = 0 then 'PENDING' else 'DELIVERED' end
    from generate_series(1, 40000) n join outbox_event e on e.id = n;
  insert into webhook_pending_delivery (delivery_id, subscription_id, interface, sequence, due_at)
    select id, subscription_id, interface, sequence, now() - interval '1 minute' from webhook_delivery where status = 'PENDING';
  insert into api_client (id, account_id, interface, client_id, schema_version)
    select n, 1, 'partner', 'c' || n, '2026-11-01' from generate_series(1, 2000) n;
  insert into api_key (key_id, api_client_id, interface, key_hash)
    select 'k' || n, n, 'partner', decode(repeat('00', 32), 'hex') from generate_series(1, 2000) n;
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

/** Executes the statement of `work` as a prepared statement and returns the nodes of its plan. */
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
      await connection.run(`begin; set local plan_cache_mode = ${mode}`);
      await connection.run(`prepare explained as ${statement.text}`);
      const [row] = await connection.run(`explain (analyze, format json) execute explained (${literals.join(', ')})`);
      await connection.run('rollback; deallocate explained');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- documented by PostgreSQL
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

/** The number of rows of a table that were read, including those that a filter removed. */
function rowsRead(nodes: readonly PlanNode[], relation: string): number {
  return nodes
    .filter((node) => node['Relation Name'] === relation && node['Node Type'] !== 'ModifyTable')
    .map((node) => ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1))
    .reduce((sum, rows) => sum + rows, 0);
}

const indexes = (nodes: readonly PlanNode[]): string[] => nodes.flatMap((node) => node['Index Name'] ?? []);
const scanned = (nodes: readonly PlanNode[]): string[] =>
  nodes.filter((node) => node['Node Type'] === 'Seq Scan').flatMap((node) => node['Relation Name'] ?? []);

// PostgreSQL chooses between a generic and a custom plan at run time. Both must use the index.
describe.each(['force_generic_plan', 'force_custom_plan'])('%s', (mode) => {
  test('leases lanes by webhook_lane_due', async () => {
    const nodes = await explain(mode, (db) => leaseLanes(db, { owner: 'b', forSeconds: 15, limit: 64 }));
    expect(indexes(nodes)).toEqual(expect.arrayContaining(['webhook_lane_due', 'webhook_lane_pkey']));
    expect(scanned(nodes)).toEqual([]);
    // The due and leased lanes until 64 are found, and those 64 again for the update.
    expect(rowsRead(nodes, 'webhook_lane')).toBeLessThan(500);
  });

  test('takes deliveries by webhook_pending_delivery_due, and reads no more than the slots', async () => {
    const lanes = Array.from({ length: 64 }, (_, index) => ({
      subscriptionId: toRecordId<'WebhookSubscription'>(String((index + 1) * 10)),
      slots: 4,
    }));
    const nodes = await explain(mode, (db) =>
      selectDueDeliveries(
        db,
        lanes,
        ['1', '2', '3'].map((id) => toRecordId<'WebhookDelivery'>(id)),
      ),
    );
    expect(indexes(nodes)).toContain('webhook_pending_delivery_due');
    expect(scanned(nodes)).toEqual([]);
    expect(rowsRead(nodes, 'webhook_pending_delivery')).toBeLessThan(64 * 4);
    expect(rowsRead(nodes, 'webhook_payload')).toBeLessThanOrEqual(64 * 4);
  });

  test('finds the accounts of the queue by outbox_event_queued, one step each', async () => {
    const nodes = await explain(mode, (db) => selectAccountsWithQueuedEvents(db, known, null, 50));
    expect(indexes(nodes)).toContain('outbox_event_queued');
    expect(rowsRead(nodes, 'outbox_event')).toBeLessThan(50);
  });

  test('reads the queue of an account by outbox_event_queued', async () => {
    const nodes = await explain(mode, (db) => selectQueuedEvents(db, known, toRecordId('2'), 10));
    expect(indexes(nodes)).toContain('outbox_event_queued');
    expect(rowsRead(nodes, 'outbox_event')).toBeLessThanOrEqual(10);
  });

  test('finds an API key by its id', async () => {
    const nodes = await explain(mode, (db) => selectApiKey(db, 'k77'));
    expect(indexes(nodes)).toEqual(expect.arrayContaining(['api_key_pkey', 'api_client_pkey']));
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
      [
        'subscriptions',
        'webhook_subscription',
        'webhook_subscription_by_account',
        (db) => selectSubscriptions(db, accountId, page),
      ],
      [
        'deliveries',
        'webhook_delivery',
        'webhook_delivery_by_account',
        (db) => selectDeliveries(db, { accountId, subscriptionId: null, status: null }, page),
      ],
      [
        'deliveries of all accounts',
        'webhook_delivery',
        'webhook_delivery_pkey',
        (db) => selectDeliveries(db, { accountId: null, subscriptionId: null, status: null }, page),
      ],
    ])('lists %s, from %s, by %s', async (_name, relation, index, list) => {
      const nodes = await explain(mode, list);
      expect(indexes(nodes)).toContain(index);
      expect(rowsRead(nodes, relation)).toBeLessThanOrEqual(42);
    });
  });
});

import { callOperatorWith, createHarness, startSystem, urlsOfApps } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { startCellServers } from '../support/cells/cell-servers.ts';
import { isWithoutPostgres } from '../support/failover/programs.ts';

const sizes = [10_000, Number(process.env['DELIVERIES'] ?? 5_000_000)] as const;
/** Of each size. */
const splits = Number(process.env['ROUNDS'] ?? 10);
const steps = [['freeze', '--yes'], ['wait'], ['promote', '--yes'], ['activate', '--yes']];

/** Delivered deliveries of the accounts in turns, with their attempts, of today. */
const fill = `
  with account as (select array_agg(id) as ids, count(*) as count from account where interface = 'customer'), delivery as (
    select ids[n % count + 1] as account_id, n, (new_record_id() & ~4095::bigint) - (($1::bigint - n) << 12) as id
    from generate_series(1, $1::bigint) n cross join account
  ), attempt as (
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
    select id, 1, account_id, 'customer', now(), 20, 200 from delivery
  )
  insert into webhook_delivery
    (id, account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
  select id, account_id, account_id, 'customer', id, 'order.placed', '2026-11-01', now(), n from delivery`;

/** A cell with stored deliveries and a worker, of which one organization leaves with each split. */
async function startCell(deliveries: number) {
  const servers = await startCellServers();
  onTestFinished(() => servers.stop());
  const { primary } = servers;
  const harness = await createHarness({ url: primary.url, stop: async () => {} });
  onTestFinished(() => harness.close());
  await primary.run('call webhook_create_partitions(60)');
  const leaving = await primary.run(
    `insert into organization (name) select 'L' from generate_series(1, ${splits}) returning id`,
  );
  await primary.run(
    `insert into account (interface, organization_id, name) select 'customer', id, name from organization where name = 'L'`,
  );
  await primary.run(fill, [deliveries]);
  await primary.run('vacuum analyze');
  const databaseUrls = await urlsOfApps(harness.database);
  const system = await startSystem({ apps: ['webhook-worker'], databaseUrls });
  onTestFinished(() => system.stop());
  return {
    /** @returns the milliseconds of each step */
    async split(number: number): Promise<number[]> {
      const next = await servers.addStandby(`next${number}`);
      const env = { DATABASE_URL: primary.url, NEW_CELL_DATABASE_URL: next.url };
      const input = Buffer.from(`gid://service/Organization/${String(leaving[number]?.['id'])}`);
      const times: number[] = [];
      for (const args of [['prepare', '--to', String(number + 1), '--leave', '-', '--yes'], ...steps]) {
        const startMs = performance.now();
        const { exitCode, stderr } = await callOperatorWith({ env, input }, 'cell', 'split', ...args);
        times.push(performance.now() - startMs);
        expect([stderr, exitCode]).toEqual(['', 0]);
      }
      await next.kill();
      await servers.shell(`rm -r '${next.dataDirectory}'`, {});
      await eventually(async () => expect(await primary.run('select from pg_stat_replication')).toEqual([]));
      return times.slice(1);
    },
  };
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;

test.skipIf(isWithoutPostgres)('a split freezes accounts as long with many stored deliveries as with few', async () => {
  const cells = [];
  for (const size of sizes) cells.push({ size, cell: await startCell(size), frozenMs: [] as number[] });
  // In turns, because the machine does other work too.
  for (let number = 0; number < splits; number += 1)
    for (const { size, cell, frozenMs } of cells) {
      const times = await cell.split(number);
      frozenMs.push(times.reduce((sum, ms) => sum + ms, 0));
      process.stdout.write(`${size} deliveries: ${times.map((ms) => ms.toFixed(0)).join(' + ')} ms\n`);
    }
  for (const { size, frozenMs } of cells)
    process.stdout.write(
      `${size} deliveries: p50 ${quantile(frozenMs, 0.5).toFixed(0)} ms, worst ${quantile(frozenMs, 1).toFixed(0)} ms\n`,
    );
  const [few = Number.NaN, many = Number.NaN] = cells.map(({ frozenMs }) => quantile(frozenMs, 0.5));
  expect(many / few).toBeLessThanOrEqual(1.2);
});

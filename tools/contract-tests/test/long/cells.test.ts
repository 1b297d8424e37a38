import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { callOperatorWith, type OperatorResult } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { connect, eventually } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CellServer, type CellServers, startCellServers } from '../support/cells/cell-servers.ts';
import { killOperator, operatorAt, operatorStart } from '../support/cells/operator-process.ts';
import { killAll, processesOfServer } from '../support/failover/owned-programs.ts';
import { isWithoutPostgres, postgresFolder } from '../support/failover/programs.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// A cell splits by promotion of a standby, with the programs of PostgreSQL.

/** What only one side has after a split, and what apps find there. */
const homesOf = `
  select o.name, coalesce(h.cell, i.cell) as cell, count(a.id)::int as accounts,
    count(*) filter (where coalesce(ah.cell, i.cell) = coalesce(h.cell, i.cell) and ah.frozen_at is null)::int as agreeing
  from installation i cross join organization o
  left join organization_home h on h.organization_id = o.id
  left join account a on a.organization_id = o.id
  left join account_home ah on ah.account_id = a.id
  group by o.id, o.name, h.cell, i.cell
  order by o.id`;
const split = [
  { name: 'Ash', cell: 5, accounts: 2, agreeing: 2 },
  { name: 'Birch', cell: 5, accounts: 2, agreeing: 2 },
  { name: 'Cedar', cell: 0, accounts: 2, agreeing: 2 },
];
const unsplit = split.map((row) => ({ ...row, cell: 0 }));

const steps = {
  prepare: ['prepare', '--to', '5', '--leave', '-', '--yes'],
  freeze: ['freeze', '--yes'],
  wait: ['wait'],
  promote: ['promote', '--yes'],
  activate: ['activate', '--yes'],
};
type Step = keyof typeof steps;
const inOrder = Object.values(steps);

/** What a step could have changed. */
async function stateOf(server: CellServer): Promise<unknown> {
  const statements = ['cell_split', 'organization_home', 'account_home', 'installation'].map(
    (table) => `table ${table}`,
  );
  const read: unknown[] = [];
  for (const statement of statements) read.push(await server.run(statement));
  return [...read, await server.run('show default_transaction_read_only')];
}

const prepare = (...args: string[]) => [...steps.prepare, ...args];

describe.skipIf(isWithoutPostgres)('a split', () => {
  let servers: CellServers;
  let old: CellServer;
  let next: CellServer;
  let env: Record<string, string>;
  let ids: string[];

  beforeEach(async () => {
    servers = await startCellServers();
    old = servers.primary;
    await migrate(old.url, testService, { organization: null });
    const inserted = await old.run(`insert into organization (name) values ('Ash'), ('Birch'), ('Cedar') returning id`);
    ids = inserted.map(({ id }) => `gid://service/Organization/${String(id)}`);
    await old.run(`
      insert into account (interface, organization_id, name)
      select i, id, name from organization cross join unnest('{customer,supplier}'::interface_name[]) i`);
    next = await servers.addStandby('next');
    env = { DATABASE_URL: old.url, NEW_CELL_DATABASE_URL: next.url, OPERATOR_NAME: 'ops' };
  });

  afterEach(() => servers.stop());

  /** Runs `cell split`, with the organizations that leave on standard input. */
  const run = (args: readonly string[], leaving = ids.slice(0, 2), variables = env): Promise<OperatorResult> =>
    callOperatorWith({ env: variables, input: Buffer.from(leaving.join('\n')) }, 'cell', 'split', ...args);

  async function take(args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(args);
    expect([stderr, exitCode]).toEqual(['', 0]);
    return stdout;
  }

  /** Takes the steps before one. */
  async function takeBefore(step: Step | 'end'): Promise<void> {
    for (const args of inOrder) {
      if (args[0] === step) return;
      await take(args);
    }
  }

  /** Waits until the standby has what was written, for 2 seconds at most: a test can hold it up. */
  async function untilReplayed(): Promise<void> {
    const [{ lsn } = {}] = await old.run('select pg_current_wal_lsn()::text as lsn');
    const behind = 'select where pg_is_in_recovery() and pg_last_wal_replay_lsn() < $1::pg_lsn';
    for (let tries = 0; tries < 100 && (await next.run(behind, [lsn])).length > 0; tries += 1) await sleep(20);
  }

  async function expectRefused(
    args: readonly string[],
    message: RegExp,
    ...input: [string[]?, typeof env?]
  ): Promise<void> {
    await untilReplayed();
    const before = [await stateOf(old), await stateOf(next)];
    const { exitCode, stdout, stderr } = await run(args, ...input);
    expect([stdout, exitCode]).toEqual(['', 1]);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    await eventually(async () => expect([await stateOf(old), await stateOf(next)]).toEqual(before));
  }

  /** A step changes nothing with `--dry-run` instead of `--yes`. */
  async function expectDryRun(args: readonly string[]): Promise<void> {
    if (!args.includes('--yes')) return;
    const before = [await stateOf(old), await stateOf(next)];
    expect(await take(args.map((argument) => (argument === '--yes' ? '--dry-run' : argument)))).toContain('(dry run)');
    expect([await stateOf(old), await stateOf(next)]).toEqual(before);
  }

  async function expectSplit(): Promise<void> {
    for (const [server, cell] of [[old, 0] as const, [next, 5] as const]) {
      expect(await server.run(homesOf)).toEqual(split);
      expect(await server.run('select cell, (new_record_id() >> 12) & 1023 as drawn from installation')).toEqual([
        { cell, drawn: String(cell) },
      ]);
      expect(await server.run('show default_transaction_read_only')).toEqual([
        { default_transaction_read_only: 'off' },
      ]);
      const check = await callOperatorWith({ env: { DATABASE_URL: server.url } }, 'database', 'check', '--json');
      expect(JSON.parse(check.stdout)).toMatchObject({ problems: [], missingRights: [] });
      expect(JSON.parse(check.stdout).sequences.filter(({ isBehind }: { isBehind: boolean }) => isBehind)).toEqual([]);
    }
    const ofBoth = await Promise.all(
      [old, next].map((server) => server.run('select installation_id from installation')),
    );
    expect(ofBoth[0]).not.toEqual(ofBoth[1]);
    expect(await next.run('select from webhook_worker')).toEqual([]);
    expect(await next.run('select from app_process')).toEqual([]);
  }

  test('takes its steps in order, each once, and prints what they took', async () => {
    await old.run(`insert into webhook_worker (name, leased_until) values ('killed', now() - interval '1 hour')`);
    await old.run(`update webhook_shard set worker_id = (select id from webhook_worker)`);
    const printed: string[] = [];
    const readOnly: unknown[] = [];
    const advice: boolean[] = [];
    for (const [index, args] of inOrder.entries()) {
      // `promote` itself looks for what `wait` waits for.
      const refused = args === steps.wait ? [] : inOrder.slice(index + 1).filter((later) => later !== steps.wait);
      for (const later of refused)
        await expectRefused(later, /^error: .*(?:cell split prepare|cell split freeze|cell split promote)/);
      await expectDryRun(args);
      printed.push(await take(args));
      readOnly.push(...(await next.run('show default_transaction_read_only')));
      const { stderr } = await callOperatorWith({ env: { DATABASE_URL: next.url } }, 'database', 'check');
      advice.push(stderr.includes('on the new side of a split, run `cell split activate`'));
      await eventually(async () => expect(await take(args)).toMatch(/^(?:wait: \d+ ms|\w+: done before)\n/));
    }
    expect(printed).toEqual(
      Object.keys(steps).map((step) =>
        expect.stringMatching(new RegExp(String.raw`^${step}: \d+ ms\npart +ms +found\n`)),
      ),
    );
    const [first, second] = ids.map((id) => id.split('/').at(-1));
    const map = 'map /etc/haproxy/cells.map';
    expect(printed.at(-1)).toContain(`\nadd ${map} ${first} 5; add ${map} ${second} 5\n`);
    expect(readOnly).toEqual(
      ['off', 'off', 'off', 'on', 'off'].map((state) => ({ default_transaction_read_only: state })),
    );
    expect(advice).toEqual([false, false, false, true, false]);
    await expectSplit();
    await expectRefused(['abort', '--yes'], /The new side is promoted/);
    await expectRefused(['prepare', '--to', '6', '--leave', '-', '--yes'], /is not at home in this cell/);
    const audited = `select action, actor from audit_entry where action like 'cell.%' order by number`;
    const actions = ['prepare', 'freeze', 'promote', 'activate'].map((step) => ({
      action: `cell.split-${step}`,
      actor: 'ops',
    }));
    expect(await old.run(audited)).toEqual(actions);
    expect(await next.run(audited)).toEqual(actions.filter(({ action }) => action !== 'cell.split-promote'));
    const listed = await callOperatorWith({ env }, 'cell', 'list', '--json');
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        cell: 0,
        isOwn: true,
        organizations: '1',
        accounts: '2',
        frozenAccounts: '0',
        frozenSince: null,
        bytesToPrune: '0',
      },
      {
        cell: 5,
        isOwn: false,
        organizations: '2',
        accounts: '4',
        frozenAccounts: '0',
        frozenSince: null,
        // Only the accounts, which stay.
        bytesToPrune: '0',
      },
    ]);
  });

  test.each<[Step, 'new' | 'old', string]>([
    ['prepare', 'old', 'audit_entry'],
    ['freeze', 'old', 'organization_home'],
    ['freeze', 'old', 'audit_entry'],
    ['promote', 'old', 'audit_entry'],
    ['activate', 'new', 'audit_entry'],
    ['activate', 'old', 'audit_entry'],
  ])('goes on after the operator was killed in %s, on the %s side at %s', async (step, side, table) => {
    await takeBefore(step);
    const server = side === 'old' ? old : next;
    const args = steps[step];
    const release = await server.hold(table);
    const expectWaiting = async () => expect(await server.run(`select ${operatorAt(table)}`)).toHaveLength(1);
    await killOperator(['cell', 'split', ...args], { ...env }, expectWaiting, ids.slice(0, 2).join('\n'));
    await release();
    await take(args);
    for (const later of inOrder.slice(inOrder.indexOf(args) + 1)) await take(later);
    await expectSplit();
    expect(await take(['status'])).toMatch(/^activatedAt +2/m);
  });

  test('goes on after the operator was killed while a transaction from before the freeze was open', async () => {
    await takeBefore('freeze');
    const reader = await connect(old.url);
    await reader.run('begin; select from account_home');
    const { exitCode, stderr } = await run(['freeze', '--yes', '--wait', '1']);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: Nothing is frozen, because a transaction stays open/),
    ]);
    expect(await old.run(homesOf)).toEqual(unsplit);
    const frozen = run(['freeze', '--yes']);
    await eventually(async () => expect(await old.run('select from account_home')).toHaveLength(4));
    await sleep(500);
    expect(await old.run('select freeze_lsn from cell_split')).toEqual([{ freeze_lsn: null }]);
    await reader.close();
    expect((await frozen).exitCode).toBe(0);
    for (const args of inOrder.slice(2)) await take(args);
    await expectSplit();
  });

  test('waits for transactions from before a freeze whose operator was killed meanwhile', async () => {
    await takeBefore('freeze');
    const reader = await connect(old.url);
    await reader.run('begin; select from account_home');
    const isFrozen = async () => expect(await old.run('select from account_home')).toHaveLength(4);
    await killOperator(['cell', 'split', ...steps.freeze], { ...env }, isFrozen);
    const { exitCode, stderr } = await run(['freeze', '--yes', '--wait', '1']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('a transaction stays open')]);
    await reader.close();
    for (const args of inOrder.slice(1)) await take(args);
    await expectSplit();
  });

  test('waits for workers that have not noticed the freeze', async () => {
    await takeBefore('freeze');
    await old.run(`insert into webhook_worker (name, leased_until) values ('busy', now() + interval '1 hour')`);
    await expectRefused(['freeze', '--yes', '--wait', '1'], /a worker still has deliveries of it in flight: busy/);
    const frozen = run(['freeze', '--yes']);
    await eventually(async () => expect(await old.run('select from account_home')).toHaveLength(4));
    await old.run('update webhook_worker set quiet_at = (select max(frozen_at) from account_home)');
    expect((await frozen).exitCode).toBe(0);
  });

  test.each<Step>(['freeze', 'wait', 'promote'])('changes nothing when it is aborted before %s', async (step) => {
    await takeBefore(step);
    await take(['abort', '--yes']);
    expect(await take(['abort', '--yes'])).toContain('done before');
    expect(await old.run(homesOf)).toEqual(unsplit);
    await expectRefused(['activate', '--yes'], /No split is open/);
    await eventually(async () => expect(await next.run(homesOf)).toEqual(unsplit));
    // An account can be created again, unlike while its organization leaves.
    const created = `insert into account (interface, organization_id, name) select 'supplier', id, name from organization`;
    await old.run(`begin; ${created}; rollback`);
    // The standby still streams, so the next try begins, even if the clock was set back.
    await old.run(`update cell_split set prepared_at = now() + interval '1 hour'`);
    for (const args of inOrder) await take(args);
    await expectSplit();
  });

  test('promotes only when every standby of the old side has the freeze', async () => {
    const twin = await servers.addStandby('twin');
    expect(await take(steps.prepare)).toContain('twin');
    await twin.kill();
    await take(steps.freeze);
    const forgotten = /A failover could forget the freeze: twin/;
    await expectRefused(['wait', '--wait', '0'], forgotten);
    await expectRefused(steps.promote, forgotten);
    await twin.start();
    for (const args of inOrder.slice(2)) await take(args);
    await expectSplit();
    // The twin follows the old side.
    await eventually(async () => expect(await twin.run(homesOf)).toEqual(split));
  });

  test('does not wait for a program that only archives the log', async () => {
    const folder = `${old.dataDirectory}-archive`;
    const receiver = `mkdir '${folder}'; exec '${postgresFolder}/pg_receivewal' --no-loop -D '${folder}' -d '${old.url}'`;
    // It ends with its server.
    const received = servers.shell(receiver, {}).catch(() => {});
    const streaming = `select from pg_stat_replication where state = 'streaming'`;
    await eventually(async () => expect(await old.run(streaming)).toHaveLength(2));
    expect(await take(steps.prepare)).toMatch(/^other standbys +\d+ +none$/m);
    for (const args of inOrder.slice(1)) await take(args);
    await expectSplit();
    expect(await old.run(streaming)).toHaveLength(1);
    await old.kill();
    await received;
  });

  test.each([true, false])(
    'goes on after the old side failed over, and its standby knew of promote: %j',
    async (knew) => {
      const twin = await servers.addStandby('twin');
      await takeBefore('activate');
      await eventually(async () =>
        expect(await twin.run('select promoted_at from cell_split')).not.toEqual([{ promoted_at: null }]),
      );
      await old.kill();
      await twin.run('select pg_promote()');
      if (!knew) await twin.run('update cell_split set promoted_at = null');
      old = twin;
      env = { ...env, DATABASE_URL: twin.url };
      if (!knew) {
        await expectRefused(['abort', '--yes'], /The new side is promoted/);
        await expectRefused(steps.activate, /is not promoted/);
        await take(steps.promote);
      }
      await take(steps.activate);
      await expectSplit();
    },
  );

  test('activates only when the standbys of the old side know of promote', async () => {
    const twin = await servers.addStandby('twin');
    await takeBefore('promote');
    const [receiver] = await twin.run('select pid from pg_stat_wal_receiver');
    process.kill(Number(receiver?.['pid']), 'SIGSTOP');
    try {
      expect(await take(steps.promote)).toContain('no longer a standby');
      await expectRefused(steps.activate, /A failover could forget that the new side is promoted: twin/);
    } finally {
      process.kill(Number(receiver?.['pid']), 'SIGCONT');
    }
    await take(steps.activate);
    await expectSplit();
  });

  test('waits for the standbys of the new side', async () => {
    const cascaded = await servers.addStandby('cascaded', next);
    await take(steps.prepare);
    const suspend = async (): Promise<() => void> => {
      const [receiver] = await cascaded.run('select pid from pg_stat_wal_receiver');
      process.kill(Number(receiver?.['pid']), 'SIGSTOP');
      return () => process.kill(Number(receiver?.['pid']), 'SIGCONT');
    };
    let resume = await suspend();
    try {
      await take(steps.freeze);
      await expectRefused(['wait', '--wait', '1'], /A failover could forget the freeze: cascaded/);
      await expectRefused(steps.promote, /A failover could forget the freeze: cascaded/);
      resume();
      await take(steps.wait);
      await take(steps.promote);
      await eventually(async () => expect(await cascaded.run('select from pg_stat_wal_receiver')).toHaveLength(1));
      resume = await suspend();
      const { exitCode, stderr } = await run(steps.activate);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('forget that the new side is active: cascaded')]);
    } finally {
      resume();
    }
    await take(steps.activate);
    await expectSplit();
  });

  test('does not take the new side for another standby of its name', async () => {
    const twin = await servers.addStandby('twin');
    for (const server of [twin, next]) {
      await server.run(`alter system set primary_conninfo = '${old.url}'`);
      await server.run('select pg_reload_conf()');
    }
    const names = `select distinct application_name as name from pg_stat_replication where state = 'streaming'`;
    await eventually(async () => expect(await old.run(names)).toEqual([{ name: 'walreceiver' }]));
    await take(steps.prepare);
    await twin.kill();
    await take(steps.freeze);
    await eventually(async () => expect(await next.run('select from account_home')).toHaveLength(4));
    await expectRefused(steps.promote, /A failover could forget the freeze: walreceiver/);
  });

  test('goes on after the old primary or the new side was killed', async () => {
    for (const args of inOrder) {
      for (const server of args[0] === 'freeze' ? [old] : [old, next]) {
        await server.kill();
        const { exitCode, stderr } = await run(args);
        expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^error: .*not available/)]);
        await server.start();
      }
      await eventually(async () => expect((await run(args)).exitCode).toBe(0));
    }
    await expectSplit();
  });

  describe('refuses to prepare', () => {
    test('a number in use, and lists that are wrong', async () => {
      await expectRefused(['prepare', '--to', '0', '--leave', '-', '--yes'], /The number 0 is in use/);
      await old.run(
        `insert into organization (id, name) values ((new_record_id() & ~(1023 << 12)) | (7 << 12), 'Moved')`,
      );
      await expectRefused(['prepare', '--to', '7', '--leave', '-', '--yes'], /The number 7 is in use/);
      await expectRefused(prepare('--stay', '/dev/null'), /is on neither list/);
      await expectRefused(['prepare', '--to', '5', '--stay', '/dev/null', '--yes'], /No organization stays/);
      await expectRefused(prepare(), /does not exist/, ['gid://service/Organization/4711']);
      await expectRefused(prepare(), /No organization leaves/, []);
      await expectRefused(prepare(), /Supplier\/4711, which is not the global identifier of an organization/, [
        'gid://service/Supplier/4711',
      ]);
      const list = `${old.dataDirectory}.list`;
      await servers.shell(`echo '${ids[0]}' > '${list}'`, {});
      await expectRefused(prepare('--stay', list), /is on both lists/);
      await take(['prepare', '--to', '5', '--stay', list, '--yes']);
      expect(await old.run('select cardinality(organization_ids) as leaving from cell_split')).toEqual([
        { leaving: 3 },
      ]);
      await expectRefused(['prepare', '--to', '6', '--stay', list, '--yes'], /A split to the cell 5 is open/);
    });

    test('while processes of a release without homes run', async () => {
      const register = (app: string, digit: string, migration: string) =>
        old.run(
          `with contract as (
             insert into app_contracts (digest, app, contracts) values (repeat('${digit}', 64), '${app}', '{"migration":"${migration}"}')
           )
           insert into app_process (id, app, version, digest, started_at, last_seen_at)
           values (gen_random_uuid(), '${app}', '1.2.3', repeat('${digit}', 64), now(), now())`,
        );
      await register('customer-api', 'a', '0057-persons-that-are-erased-again');
      await register('webhook-worker', 'b', '0057-persons-that-are-erased-again');
      await register('supplier-api', 'c', '0058-homes-of-accounts');
      await register('operator-cli', 'd', '0049-processes-and-use');
      await expectRefused(prepare(), /know no freeze: customer-api 1\.2\.3, webhook-worker 1\.2\.3\. Replace them/);
      await old.run(`update app_process set last_seen_at = now() - interval '4 minutes' where app like '%r%'`);
      expect(await take(steps.prepare)).toContain('2 leave');
    });

    test('a server that is no standby of this system', async () => {
      const other = await servers.addPrimary('other');
      await expectRefused(prepare(), /leads to no copy of this database/, undefined, {
        ...env,
        NEW_CELL_DATABASE_URL: other.url,
      });
      await expectRefused(prepare(), /leads to the database of the old side/, undefined, {
        ...env,
        NEW_CELL_DATABASE_URL: old.url,
      });
      await expectRefused(prepare(), /leads to a standby/, undefined, {
        ...env,
        DATABASE_URL: next.url,
        NEW_CELL_DATABASE_URL: old.url,
      });
      expect(await old.run('table cell_split')).toEqual([]);
    });

    test('a standby whose library sorts in another way than the indexes were built', async () => {
      await old.run(`create index order_by_note on customer_order (note collate "und-x-icu")`);
      await old.run(`update pg_collation set collversion = '1.0' where collname = 'und-x-icu'`);
      await eventually(async () =>
        expect((await run(prepare())).stderr).toMatch(
          /Indexes were built with version 1\.0 of the collation "und-x-icu", and the new side has [\d.]+\. Install /,
        ),
      );
    });

    test('a standby that is behind, does not stream or is waited for', async () => {
      await next.run('select pg_wal_replay_pause()');
      await old.run(`create table filler as select repeat('x', 1000) from generate_series(1, 80000)`);
      await expectRefused(prepare(), /The standby is .* MB behind/);
      await next.run('select pg_wal_replay_resume()');
      await eventually(async () =>
        expect(await take(['prepare', '--to', '5', '--leave', '-', '--dry-run'])).toContain('next streams'),
      );
      await old.run(`alter system set synchronous_standby_names = 'next'`);
      await old.run('select pg_reload_conf()');
      await eventually(async () => expect((await run(prepare())).stderr).toContain('synchronous_standby_names'));
      await old.run('alter system reset synchronous_standby_names');
      await old.run('select pg_reload_conf()');
      await expectRefused(prepare('--standby', 'twin'), /do not stream: twin/);
      await old.run(`select pg_create_physical_replication_slot('twin')`);
      await expectRefused(prepare(), /Standbys do not use their slots: twin/);
      await old.run(`select pg_drop_replication_slot('twin')`);
      await next.run(`alter system set synchronous_standby_names = 'twin'`);
      await next.run('select pg_reload_conf()');
      await eventually(async () => expect((await run(prepare())).stderr).toContain('would wait for twin'));
      await next.run(`alter system set primary_conninfo = ''`);
      await next.run('select pg_reload_conf()');
      await eventually(async () => expect((await run(prepare())).stderr).toContain('The standby does not stream'));
    });

    test('a disk that is almost full', async () => {
      // As if it were: what PostgreSQL may need is more than any disk has.
      await next.run(`alter system set max_wal_size = '2147483647MB'`);
      await next.run('select pg_reload_conf()');
      await eventually(async () =>
        expect((await run(prepare())).stderr).toMatch(/The disk of the new side has [\d.]+ MB free/),
      );
    });
  });

  test('lets one operator work at a time', async () => {
    await takeBefore('freeze');
    const reader = await connect(old.url);
    await reader.run('begin; select from account_home');
    const first = run(steps.freeze);
    await eventually(async () => expect(await old.run('select from account_home')).toHaveLength(4));
    const prune = callOperatorWith({ env }, 'cell', 'prune', '--dry-run');
    for (const refused of [run(steps.freeze), run(['abort', '--yes']), prune]) {
      const { exitCode, stderr } = await refused;
      expect([exitCode, stderr]).toEqual([1, 'error: Another operator works on a split of this cell.\n']);
    }
    await reader.close();
    expect((await first).exitCode).toBe(0);
  });

  test('works as the page prints it', async () => {
    const page = await readFile(join(workspaceRoot, 'docs/cells.md'), 'utf8');
    const scripts = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, script]) => script);
    expect(scripts).toHaveLength(3);
    const folder = `${old.dataDirectory}-page`;
    const start = [process.execPath, ...operatorStart].map((each) => `'${each}'`).join(' ');
    const operator = `#!/bin/sh\nexec ${start} "$@"\n`;
    const [port, data] = [await findFreePort(), join(folder, 'data')];
    await servers.shell(
      'mkdir "$FOLDER"; cd "$FOLDER"; echo "$OPERATOR" >deedwire-operator; chmod +x *; echo "$IDS" >leaving.txt',
      {
        FOLDER: folder,
        OPERATOR: operator,
        IDS: ids.slice(0, 2).join('\n'),
      },
    );
    const newUrl = new URL(old.url);
    newUrl.port = String(port);
    const variables = {
      PATH: `${folder}:${postgresFolder}:${process.env['PATH']}`,
      NEW_CELL_DATABASE_URL: newUrl.href,
      NEW_DATA: data,
      NEW_PORT: String(port),
      NODE_ENV: 'test',
    };
    const type = (url: string, script: string) =>
      servers.shell(`trap 'cat "$NEW_DATA.log" >&2' ERR; cd '${folder}'; ${script}`, {
        ...variables,
        DATABASE_URL: url,
      });
    await old.run(
      `insert into customer_order (account_id, item) select id, name from account where interface = 'customer'`,
    );
    const printed = await type(old.url, scripts.slice(0, 2).join('\n'));
    try {
      for (const step of Object.keys(steps)) expect(printed).toMatch(new RegExp(`^${step}: `, 'm'));
      for (const [url, own] of [
        [old.url, ['Cedar']],
        [newUrl.href, ['Ash', 'Birch']],
      ] as const) {
        expect(await type(url, scripts[2] ?? '')).toMatch(/^customer_order +\d\.\d +\d +0$/m);
        const connection = await connect(url);
        expect(await connection.run(homesOf)).toEqual(split);
        const left = await connection.run('select item as name from customer_order order by 1');
        expect(left.map(({ name }) => name)).toEqual(own);
        await connection.close();
        await type(
          url,
          'deedwire-operator audit export >log; deedwire-operator audit verify log; deedwire-operator database check',
        );
      }
    } finally {
      await killAll(await processesOfServer(data));
    }
  });
});

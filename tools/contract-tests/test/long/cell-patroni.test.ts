import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { callOperatorWith } from '@deedwire/dev-environment/harness';
import { migrate } from '@deedwire/store';
import { createClient, eventually, missing, runOnce as run } from '@deedwire/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { createClientAccounts } from '../support/client-accounts.ts';
import { type PatroniCluster, startPatroniCluster } from '../support/failover/patroni-cluster.ts';
import { isWithoutPatroni } from '../support/failover/programs.ts';
import { startFaultSystem } from '../support/faults/fault-system.ts';
import { judge } from '../support/faults/judge.ts';
import { startLoad } from '../support/faults/load.ts';
import { windowMax } from '../support/faults/verdict-of.ts';
import { subscribe } from '../support/subscribe.ts';

// A cell splits whose sides are clusters of Patroni: the new side is a standby cluster of the old one. Needs
// `apt-get install --no-install-recommends etcd-server haproxy patroni postgresql-15` of Debian 12.

const prepare = ['prepare', '--to', '5', '--leave', '-', '--yes'];
const promote = ['promote', '--yes'];
const deliveredWithinMs = 180_000;

let closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

async function startCluster(options: Parameters<typeof startPatroniCluster>[0]): Promise<PatroniCluster> {
  const cluster = await startPatroniCluster(options);
  closing.unshift(() => cluster.stop());
  return cluster;
}

const numberOf = ({ accountId }: { accountId: string }) => accountId.split('/').at(-1) ?? '';
const report = (step: string) => process.stderr.write(`${step}: ${Math.round(performance.now())} ms\n`);

/** `cell split` between two clusters. The new side has the server of its leader. */
function createSplit(old: PatroniCluster, next: PatroniCluster, leaving: string) {
  async function call(args: readonly string[], newUrl?: string) {
    const url = newUrl ?? next.servers[await next.leader()] ?? missing();
    const env = { DATABASE_URL: old.url, NEW_CELL_DATABASE_URL: url, OPERATOR_NAME: 'ops' };
    return callOperatorWith({ env, input: Buffer.from(leaving) }, 'cell', 'split', ...args);
  }
  async function take(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await call(args);
    expect([stderr, exitCode]).toEqual(['', 0]);
    return stdout;
  }
  return {
    take,
    async expectRefused(args: readonly string[], message: RegExp, newUrl?: string): Promise<void> {
      const { exitCode, stdout, stderr } = await call(args, newUrl);
      expect([stdout, exitCode]).toEqual(['', 1]);
      expect(stderr).toMatch(message);
    },
    /** Takes the steps up to `wait`, once the standbys stream. */
    async freeze(): Promise<void> {
      await eventually(async () => void (await take(...prepare)));
      await take('freeze', '--yes');
      await take('wait');
    },
    /** Takes the step up to the promotion. @returns the command for Patroni, as it is printed */
    async promote(): Promise<string[]> {
      const [last = ''] = (await take(...promote)).trim().split('\n').slice(-1);
      expect(last).toBe('patronictl edit-config deedwire-new --force --set standby_cluster=null');
      return last.split(' ').slice(1);
    },
  };
}

describe.skipIf(isWithoutPatroni)('a split between clusters of Patroni', () => {
  test('loses nothing, and neither does a failover of one of its sides', async () => {
    const old = await startCluster({ synchronous: true, names: ['a', 'b'] });
    const system = await startFaultSystem({
      accounts: 2,
      leaseMs: 15_000,
      server: { url: old.url, stop: () => Promise.resolve() },
      env: { DATABASE_TIMEOUT_MS: '2500' },
    });
    closing.unshift(() => system.close());
    const { t, received, accepted } = system;
    const stays = await createClientAccounts('customer', t, 2);
    const subscriptions = new Map(system.subscriptions);
    for (const { accountId, client } of stays) {
      const { id, secret } = await subscribe(client, {
        callbackUrl: `${received.url}/stays`,
        eventTypes: [{ type: 'order.placed' }],
      });
      received.setSecret(id, secret);
      subscriptions.set(id, accountId);
    }
    const [leavingIds, stayingIds] = [system.accounts.map(numberOf), stays.map(numberOf)];
    const routes = new Map<string, string>();
    const load = startLoad({
      accounts: [...system.accounts, ...stays],
      clientOf: (accountId) => {
        const { credential } = stays.find((account) => account.accountId === accountId) ?? {};
        const url = `${routes.get(accountId) ?? t.system.apps['customer-api'].url}/customer/graphql`;
        return createClient(url, credential ?? system.credentialOf(accountId));
      },
      log: accepted,
    });
    await received.waitForMore(100);
    const next = await startCluster({ synchronous: true, names: ['c', 'd'], standbyOf: old });
    const [organization] = await run(old.url, 'select organization_id as id from account where id = $1', [
      leavingIds[0],
    ]);
    const split = createSplit(old, next, `gid://service/Organization/${String(organization?.['id'])}`);
    /** Each account has a change accepted and delivered. */
    const untilGoesOn = async (): Promise<void> => {
      const before = [(await accepted.read()).length, received.deliveries.length] as const;
      await eventually(async () => {
        const created = (await accepted.read()).slice(before[0]).map(({ accountId }) => accountId);
        const sent = received.deliveries.slice(before[1]).map((each) => subscriptions.get(each.subscriptionId));
        for (const { accountId } of [...system.accounts, ...stays])
          expect([created.includes(accountId), sent.includes(accountId)]).toEqual([true, true]);
      }, deliveredWithinMs);
    };
    const frozen = 'select count(*)::int as frozen from account_home where frozen_at is not null';

    const replica = (await old.leader()) === 'a' ? 'b' : 'a';
    await split.expectRefused(prepare, /as a member of the old side/, old.servers[replica]);

    report('freeze');
    await split.freeze();
    const rejoin = await old.killLeader();
    await eventually(async () => expect(await run(old.url, frozen)).toEqual([{ frozen: 2 }]), deliveredWithinMs);
    await split.expectRefused([...promote, '--wait', '0'], /A failover could forget the freeze/);
    await rejoin();
    await split.take('abort', '--yes');
    await old.untilHealthy();
    await next.untilHealthy();
    await untilGoesOn();

    report('freeze after a failover');
    await split.freeze();
    const command = await split.promote();
    expect(await run(next.servers[await next.leader()] ?? '', 'select pg_is_in_recovery() as standby')).toEqual([
      { standby: true },
    ]);
    await next.patronictl(...command);
    expect(await split.take(...promote)).toContain('no longer a standby');
    report('promoted');
    await next.untilHealthy();
    await next.switchOver();
    await next.untilHealthy();
    const readOnly = async () => {
      const read = Object.values(next.servers).map((url) => run(url, 'show default_transaction_read_only'));
      return (await Promise.all(read)).flatMap(([row]) => Object.values(row ?? {}));
    };
    expect(await readOnly()).toEqual(['on', 'on']);
    await split.take('activate', '--yes');
    report('activated');
    await eventually(async () => expect(await readOnly()).toEqual(['off', 'off']));

    const envOf = async (role: string): Promise<Record<string, string>> => {
      const url = new URL(await t.database.urlFor(role));
      url.host = new URL(next.url).host;
      return { DATABASE_URL: url.href };
    };
    await t.system.add('webhook-worker', await envOf('webhook_worker'));
    const { url } = await t.system.add('customer-api', await envOf('customer_api'));
    for (const { accountId } of system.accounts) routes.set(accountId, url ?? missing());
    await untilGoesOn();
    report('goes on');

    for (const cluster of [old, next]) {
      const start = await cluster.killLeader();
      await sleep(5_000);
      await start();
      await untilGoesOn();
      await cluster.untilHealthy();
      await cluster.switchOver();
      await untilGoesOn();
      await cluster.untilHealthy();
      report(`failed over ${await cluster.describe()}`);
    }

    await load.stop();
    const verdict = async () => judge(await accepted.read(), received.deliveries, subscriptions, new Map());
    await eventually(async () => expect((await verdict()).lost).toBe(0), deliveredWithinMs);
    const { repeats, delivered, ...counts } = await verdict();
    expect(counts).toEqual({ lost: 0, unexpected: 0, badSignatures: 0, changedRepeats: 0, gaps: 0, explained: 0 });
    // Three interruptions of each side.
    expect(repeats).toBeLessThanOrEqual(3 * windowMax * subscriptions.size);
    for (const [side, cell, foreign] of [[old, 0, leavingIds] as const, [next, 5, stayingIds] as const]) {
      expect(await run(side.url, frozen)).toEqual([{ frozen: 0 }]);
      expect(await run(side.url, 'select cell from installation')).toEqual([{ cell }]);
      const attempts = `
        select a.* from webhook_attempt a join webhook_subscription s on s.id = a.subscription_id
        where s.account_id = any ($1) and a.started_at > (select activated_at from cell_split where activated_at is not null)`;
      expect(await run(side.url, attempts, [foreign])).toEqual([]);
    }
    report(`delivered ${delivered}, repeats ${repeats}`);
  });

  test('does not go against Patroni, whatever ends meanwhile', async () => {
    const old = await startCluster({ synchronous: false, names: ['a'] });
    await migrate(old.url, testService, { organization: null });
    const [organization] = await run(old.url, `insert into organization (name) values ('Ash') returning id`);
    const next = await startCluster({ synchronous: false, names: ['c'], standbyOf: old });
    const split = createSplit(old, next, `gid://service/Organization/${String(organization?.['id'])}`);
    const setStrict = async (isStrict: boolean, waitsFor: string): Promise<void> => {
      const modes = ['synchronous_mode', 'synchronous_mode_strict'].flatMap((mode) => ['--set', `${mode}=${isStrict}`]);
      await next.patronictl('edit-config', 'deedwire-new', '--force', ...modes);
      await eventually(async () =>
        expect(await run(next.servers['c'] ?? '', 'show synchronous_standby_names')).toEqual([
          { synchronous_standby_names: waitsFor },
        ]),
      );
    };
    await setStrict(true, '*');
    await split.expectRefused(prepare, /The new side would wait for \*\. Start another member/);
    await setStrict(false, '');
    await split.freeze();

    const startPatroni = await next.killPatroni();
    // Until it has made a checkpoint, pg_rewind would not notice it.
    for (const statement of ['select pg_promote()', 'checkpoint']) await run(next.servers['c'] ?? '', statement);
    const again = /would make the new side a standby again\. Run `patronictl edit-config deedwire-new/;
    await split.expectRefused([...promote, '--wait', '0'], again, next.servers['c']);
    await startPatroni();
    await next.untilHealthy();
    await eventually(async () => void (await split.take('wait')));

    const command = await split.promote();
    const startEtcd = await old.shared.killEtcd();
    await expect(next.patronictl(...command)).rejects.toThrow('failed');
    // Patroni makes the old side read-only while it cannot reach etcd.
    const waiting = /Patroni did not promote the standby|not available|leads to a standby/;
    await split.expectRefused([...promote, '--wait', '1'], waiting, next.servers['c']);
    await startEtcd();
    await old.untilHealthy();
    await next.untilHealthy();
    await next.patronictl(...command);
    const startPatroniAgain = await next.killPatroni();
    const startEtcdAgain = await old.shared.killEtcd();
    await split.expectRefused(
      ['activate', '--yes'],
      /is not promoted|not available|leads to a standby/,
      next.servers['c'],
    );
    await startEtcdAgain();
    await startPatroniAgain();
    await old.untilHealthy();
    expect(await split.take(...promote)).toContain('no longer a standby');
    await split.take('activate', '--yes');
    expect(await run(next.servers['c'] ?? '', 'select cell from installation')).toEqual([{ cell: 5 }]);
  });
});

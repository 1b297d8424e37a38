import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { callOperatorWith, createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { migrate } from '@deedwire/store';
import { connect, eventually, postGraphql, type Receiver, startReceiver } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CellServers, startCellServers } from '../support/cells/cell-servers.ts';
import {
  isWithoutNamespaces,
  type OperatorRun,
  type SplitNetwork,
  startSplitNetwork,
} from '../support/cells/split-network.ts';
import { killAll } from '../support/failover/owned-programs.ts';
import { isWithoutPostgres } from '../support/failover/programs.ts';

// oxlint-disable vitest/no-conditional-expect -- a step decides what is expected

// The operator and the new side lose the old side while its apps and its receivers go on. It is cut off before, during and after each
// step of a split.

const steps = {
  prepare: ['prepare', '--to', '5', '--leave', '-', '--yes'],
  freeze: ['freeze', '--yes'],
  wait: ['wait'],
  promote: ['promote', '--yes'],
  activate: ['activate', '--yes'],
} as const;
type Step = keyof typeof steps;

describe.skipIf(isWithoutNamespaces)('an old side that the operator cannot reach', () => {
  let network: SplitNetwork;
  let harness: Harness;
  let receiver: Receiver;
  let url: string;
  let subscriptions: Record<'leaving' | 'staying', string>;

  beforeEach(async () => {
    network = await startSplitNetwork();
    harness = await createHarness({ url: network.old.url, stop: () => Promise.resolve() });
    receiver = await startReceiver();
    const { customer, otherCustomer } = harness.accounts;
    const staying = await harness.subscribe(`${receiver.url}/staying`, ['order.placed'], otherCustomer);
    const leaving = await harness.subscribe(`${receiver.url}/leaving`, ['order.placed'], customer);
    subscriptions = { leaving: leaving.id, staying: staying.id };
    await harness.startWorker();
    const service = await harness.startApi('customer');
    await service.whenReady;
    url = `${service.url}/customer/graphql`;
    await network.addStandby();
  });

  afterEach(async () => {
    network.heal();
    await harness.close();
    await receiver.close();
    await network.stop();
  });

  const operate = (step: Step): OperatorRun =>
    network.operate(steps[step], harness.accounts.customer.credential.organizationId);
  const count = (who: 'leaving' | 'staying'): number =>
    receiver.deliveries.filter(({ path }) => path.endsWith(who)).length;

  const send = async (key: 'otherCustomer' | 'customer') => {
    const { status } = await postGraphql(url, harness.accounts[key].credential, {
      query: 'mutation { placeOrder(input: { item: "Tea" }) { userErrors { code } } }',
    });
    return status;
  };

  /** Sends a change of each account to the old side. Returns whether those of the account that leaves are accepted. */
  async function change(): Promise<boolean> {
    const [before, beforeLeaving] = [count('staying'), count('leaving')];
    expect(await send('otherCustomer')).toBe(200);
    // Receivers are reached all the time.
    await eventually(() => expect(count('staying')).toBe(before + 1));
    const status = await send('customer');
    expect([200, 503]).toContain(status);
    if (status === 200) await eventually(() => expect(count('leaving')).toBe(beforeLeaving + 1));
    return status === 200;
  }

  /** Whether the old side changes what leaves, and the new side does. Never both. */
  async function owners(): Promise<[boolean, boolean]> {
    const [next] = await network.next.run(
      `select not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off'
         and not exists (select from account_away where account_id = $1) as owns`,
      [harness.accounts.customer.accountId],
    );
    const found: [boolean, boolean] = [await change(), next?.['owns'] === true];
    expect(found).not.toEqual([true, true]);
    return found;
  }

  const expected: Record<Step, [boolean, boolean]> = {
    prepare: [true, false],
    freeze: [false, false],
    wait: [false, false],
    promote: [false, false],
    activate: [false, true],
  };

  test('never has a second owner beside it, and sends nothing of what has left', async () => {
    let last: [boolean, boolean] = [true, false];
    for (const step of Object.keys(steps) as Step[]) {
      network.cut();
      expect(await operate(step).ended).toMatchObject({ exitCode: 1, stdout: '' });
      expect(await owners()).toEqual(last);
      network.heal();
      // The standby streams again. A step refuses before.
      if (step !== 'activate')
        await eventually(async () => {
          const streaming = `select from pg_stat_replication where state = 'streaming' and replay_lsn >= pg_current_wal_lsn()`;
          expect(await network.old.run(streaming)).toHaveLength(1);
          expect(await network.next.run(`select from pg_stat_wal_receiver where status = 'streaming'`)).toHaveLength(1);
        });

      if (step !== 'wait') {
        const holder = await connect(network.old.url);
        await holder.run('begin; lock table audit_entry in access exclusive mode');
        let interrupted = operate(step);
        let refusal = '';
        const noteRefusal = (run: OperatorRun) => void run.ended.then(({ stderr }) => (refusal = stderr));
        noteRefusal(interrupted);
        await eventually(async () => {
          // Sessions of earlier commands end within seconds.
          if (refusal !== '') {
            process.stderr.write(`${step}: ${refusal}`);
            refusal = '';
            interrupted = operate(step);
            noteRefusal(interrupted);
          }
          expect(
            await network.old.run(
              `select from pg_stat_activity where application_name = 'deedwire-split' and wait_event_type = 'Lock'`,
            ),
          ).toHaveLength(1);
        });
        network.cut();
        await holder.close();
        interrupted.kill();
        await interrupted.ended;
        await sleep(1_000);
        // The old side alone: no answer of it waits for the operator.
        if (step === 'activate') expect(await owners()).toEqual([false, true]);
        network.heal();
      }
      // The session of the killed command ends within seconds.
      await eventually(async () => expect(await operate(step).ended).toMatchObject({ exitCode: 0, stderr: '' }));
      network.cut();
      expect(await owners()).toEqual(expected[step]);
      last = expected[step];
      network.heal();
    }
  });

  test('sends nothing of what left while something of it waits', async () => {
    receiver.onDelivery = (response, { path }) => void response.writeHead(path.endsWith('leaving') ? 500 : 204).end();
    await harness.place(5);
    await eventually(() => expect(count('leaving')).toBe(5));
    for (const step of Object.keys(steps) as Step[])
      expect(await operate(step).ended).toMatchObject({ exitCode: 0, stderr: '' });
    network.cut();
    const sent = count('leaving');
    await network.old.run('update webhook_pending_delivery set due_at = now()');
    const waiting = `select count(*)::int as waiting from webhook_pending_delivery where subscription_id = $1`;
    const number = subscriptions.leaving.split('/').at(-1);
    expect(await network.old.run(waiting, [number])).toEqual([{ waiting: 5 }]);
    expect(await network.next.run(waiting, [number])).toEqual([{ waiting: 5 }]);
    // Longer than a lease.
    for (const startMs = performance.now(); performance.now() - startMs < 20_000;) {
      expect(await change()).toBe(false);
      await sleep(1_000);
    }
    expect(count('leaving')).toBe(sent);
  });
});

describe.skipIf(isWithoutPostgres)('a failover of the old side right after the freeze', () => {
  let servers: CellServers;
  let env: Record<string, string>;
  let gid: string;

  beforeEach(async () => {
    servers = await startCellServers();
    await migrate(servers.primary.url, testService, { organization: null });
    const [{ id } = {}] = await servers.primary.run(`insert into organization (name) values ('Ash') returning id`);
    gid = `gid://service/Organization/${String(id)}`;
    await servers.primary.run(
      `insert into account (interface, organization_id, name) values ('customer', ${String(id)}, 'Ash')`,
    );
    const next = await servers.addStandby('next');
    env = { DATABASE_URL: servers.primary.url, NEW_CELL_DATABASE_URL: next.url, OPERATOR_NAME: 'ops' };
  });

  afterEach(() => servers.stop());

  const run = (args: readonly string[]) => callOperatorWith({ env, input: Buffer.from(gid) }, 'cell', 'split', ...args);
  const place = `insert into customer_order (account_id, item) select id, 'Tea' from account`;

  test('does not forget it', async () => {
    const twin = await servers.addStandby('twin');
    for (const step of ['prepare', 'freeze', 'wait'] as const)
      expect(await run(steps[step])).toMatchObject({ exitCode: 0, stderr: '' });
    await servers.primary.kill();
    await twin.run('select pg_promote()');
    env = { ...env, DATABASE_URL: twin.url };
    await expect(twin.run(place)).rejects.toThrow('is frozen, or at home in another cell');
    expect(await run(steps.promote)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('did not flush it'),
    });
    expect(await run(['abort', '--yes'])).toMatchObject({ exitCode: 0 });
    await twin.run(place);
  });

  test('ends the split if its new primary does not know of it', async () => {
    const twin = await servers.addStandby('twin');
    expect(await run(steps.prepare)).toMatchObject({ exitCode: 0 });
    const [receiver] = await twin.run('select pid from pg_stat_wal_receiver');
    const pid = Number(receiver?.['pid']);
    process.kill(pid, 'SIGSTOP');
    expect(await run(steps.freeze)).toMatchObject({ exitCode: 0 });
    const forgotten = { exitCode: 1, stderr: expect.stringContaining('A failover could forget the freeze: twin') };
    expect(await run(['wait', '--wait', '1'])).toMatchObject(forgotten);
    expect(await run(steps.promote)).toMatchObject(forgotten);
    await servers.primary.kill();
    await killAll([pid]);
    await eventually(async () => {
      await twin.run('select pg_promote()').catch(() => {});
      expect(await twin.run('select pg_is_in_recovery() as standby')).toEqual([{ standby: false }]);
    });
    env = { ...env, DATABASE_URL: twin.url };
    await twin.run(place);
    expect(await run(steps.promote)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Nothing is frozen'),
    });
  });
});

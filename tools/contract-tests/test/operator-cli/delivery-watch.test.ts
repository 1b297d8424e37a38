import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { callOperator, createHarness, type OperatorResult } from '@deedwire/dev-environment/harness';
import { compileCache, eventually, startTcpProxy } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import {
  insertDelivery,
  insertPending,
  insertSubscription,
  type StoredDelivery,
  type StoredSubscription,
} from '../support/stored-deliveries.ts';

const harness = await forFile(createHarness());
const env = { DATABASE_URL: await harness.database.urlFor('operator'), SLOW_STATEMENT_MS: '0' };
const subscription = await insertSubscription(harness, 'customer', harness.accounts.customer);
const other = await insertSubscription(harness, 'customer', harness.accounts.customer);

/** Records an attempt that starts now, as a worker does, and the end of the delivery with it. */
async function attempt(of: StoredSubscription, { id }: StoredDelivery, number: number, status: number): Promise<void> {
  await harness.sql(
    `with attempt as (
       insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms, response_status)
       values ($1, $2, $3, 'customer', clock_timestamp(), 12, $4)
     )
     delete from webhook_pending_delivery where delivery_id = $1`,
    [id, number, of.id, status],
  );
}

const main = join(import.meta.dirname, '../../../dev-environment/src/operator.ts');
const service = join(import.meta.dirname, '../../../test-service');

/** Starts the command as a process, and collects its lines. */
function watch(...commandArguments: string[]): { child: ChildProcess; lines: string[] } {
  const child = spawn(
    process.execPath,
    ['--conditions=deedwire-source', main, '--service', service, 'delivery', 'watch', ...commandArguments],
    {
      env: { ...env, ...compileCache, NODE_ENV: 'test', PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const lines: string[] = [];
  createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => lines.push(line));
  return { child, lines };
}

test('prints new attempts, later ones of pending deliveries and those of retries, until it is interrupted', async () => {
  // Older than what the first poll takes for new.
  const createdAt = new Date(Date.now() - 3_600_000);
  const pending = await insertDelivery(harness, subscription, { sequence: 1, createdAt });
  const old = await insertDelivery(harness, subscription, { sequence: 2, createdAt });
  await insertPending(harness, subscription, pending, { attempts: 1 });
  const { child, lines } = watch('--account', harness.accounts.customer.id, '--json');
  // The process can need longer to start than the 10 seconds that the first poll goes back.
  while (lines.length === 0) {
    const early = await insertDelivery(harness, other);
    await attempt(other, early, 1, 200);
    await sleep(500);
  }
  const first = await insertDelivery(harness, other, { eventType: 'order.placed' });
  await attempt(other, first, 1, 503);
  const printed = (delivery: StoredDelivery): Record<string, unknown>[] =>
    lines.map((line) => JSON.parse(line)).filter(({ deliveryId }) => deliveryId === delivery.gid);
  await eventually(() => expect(printed(first)).toHaveLength(1));
  expect(printed(first)[0]).toEqual({
    deliveryId: first.gid,
    subscriptionId: other.gid,
    eventType: 'order.placed',
    number: 1,
    startedAt: expect.any(String),
    durationMs: 12,
    responseStatus: 503,
    error: null,
    advice: expect.stringContaining('unavailable'),
  });
  await attempt(subscription, pending, 2, 200);
  await eventually(() => expect(printed(pending)).toHaveLength(1));
  await harness.sql(
    `insert into webhook_replay
       (account_id, interface, subscription_id, delivery_id, only_failed, per_second, from_id, until_id, last_id)
     values ($1, 'customer', $2, $3, false, 1, $3, $3, $3)`,
    [harness.accounts.customer.accountId, subscription.id, old.id],
  );
  await attempt(subscription, old, 16, 200);
  await eventually(() => expect(printed(old)).toHaveLength(1));
  const second = await insertDelivery(harness, subscription);
  await attempt(subscription, second, 1, 204);
  await eventually(() => expect(printed(second)).toHaveLength(1));
  child.kill('SIGINT');
  const [code, signal] = await once(child, 'close');
  expect([code, signal]).toEqual([null, 'SIGINT']);
  const keys = lines.map((line) => JSON.parse(line)).map(({ deliveryId, number }) => `${deliveryId} ${number}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.slice(-4)).toEqual([`${first.gid} 1`, `${pending.gid} 2`, `${old.gid} 16`, `${second.gid} 1`]);
});

const operate = (...commandArguments: string[]): Promise<OperatorResult> =>
  callOperator(env, 'delivery', 'watch', ...commandArguments);

test('prints one line for each attempt of the last seconds of a subscription, and ends after a time', async () => {
  const [mine, foreign] = [await insertDelivery(harness, other), await insertDelivery(harness, subscription)];
  await attempt(other, mine, 1, 200);
  await attempt(subscription, foreign, 1, 200);
  const { exitCode, stdout, stderr } = await operate('--subscription', other.gid, '--for', '0');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(
    /^20\S+Z  gid:\/\/service\/WebhookDelivery\/\d+  webhook\.test  attempt 1  HTTP 200  12 ms$/,
  );
  expect(lines.at(-1)).toContain(mine.gid);
  expect(stdout).not.toContain(foreign.gid);
});

test('fails if it does not know at its end what was attempted', async () => {
  const proxy = await startTcpProxy(env.DATABASE_URL);
  const behind = { ...env, DATABASE_URL: proxy.url };
  const watching = callOperator(behind, 'delivery', 'watch', '--subscription', other.gid, '--for', '4s', '--json');
  // After its first poll, unless the machine is slow.
  await sleep(2_000);
  await proxy.close();
  const { exitCode, stderr } = await watching;
  expect(exitCode).toBe(1);
  expect(JSON.parse(stderr).error.message).toContain('No PostgreSQL server accepts connections at 127.0.0.1:');
});

test.each<[string[], number, string]>([
  [[], 2, 'name either --account or --subscription'],
  [['--account', 'gid://service/Customer/1', '--subscription', '1'], 2, 'name either --account or --subscription'],
  [['--account', 'gid://service/Customer/1'], 1, 'The customer gid://service/Customer/1 does not exist.'],
  [['--subscription', 'gid://service/WebhookSubscription/1'], 1, 'does not exist.'],
])('rejects %j', async (more, exitCode, message) => {
  const result = await operate(...more, '--json');
  expect(result).toMatchObject({ exitCode, stdout: '' });
  expect(JSON.parse(result.stderr).error.message).toContain(message);
});

import { callOperator, startTestSystem } from '@deedwire/dev-environment/harness';
import { acknowledge, eventually, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { subscribe } from '../support/subscribe.ts';

const alarms: unknown[] = [];
const t = await forFile(
  startTestSystem({
    apps: ['customer-api', 'webhook-worker'],
    appEnv: { 'webhook-worker': { WORKER_LEASE_MS: '2000' } },
    onLine: (_, line) => line.includes('"alarm":"delivery-given-up"') && alarms.push(JSON.parse(line)),
  }),
);
const deadly = await forFile(startReceiver());
const healthy = await forFile(startReceiver());
const eventTypes = [{ type: 'order.placed' }];
const { id: deadlyId } = await subscribe(t.customer, {
  callbackUrl: deadly.url,
  eventTypes,
  timeoutSeconds: 15,
});
await subscribe(t.customer, { callbackUrl: healthy.url, eventTypes });
const env = { DATABASE_URL: await t.database.urlFor('operator') };

async function whyIsPending(): Promise<string> {
  // The other subscription can have one, too: the worker is killed before it records what it sent.
  const pending = ['--subscription', deadlyId, '--status', 'PENDING'];
  const { stdout } = await callOperator(env, 'delivery', 'list', ...pending, '--json');
  const [{ id = '' } = {}]: { id?: string }[] = JSON.parse(stdout);
  return (await callOperator(env, 'delivery', 'why', id)).stdout;
}

test('a delivery that is sent whenever a worker dies fails, and an operator finds why and sends it again', async () => {
  const startMs = Date.now();
  let whyPending = '';
  deadly.onDelivery = () => {};
  await t.place(1);
  // Five claims are counted by those that take over.
  for (let worker = 1; worker <= 6; worker += 1) {
    await deadly.waitFor(worker);
    if (worker === 3) whyPending = await whyIsPending();
    t.system.apps['webhook-worker'].kill('SIGKILL');
    await t.system.apps['webhook-worker'].ended;
    if (worker === 3) await t.place(1);
    await t.system.restart('webhook-worker');
  }
  expect(whyPending).toMatch(
    /\nClaimed 2 times without a recorded attempt: \S+Z, \S+Z\. The request of the last claim may be in flight\. /,
  );
  await eventually(() => expect(alarms).toHaveLength(1));
  const id = await eventually(async () => {
    const { stdout } = await callOperator(env, 'delivery', 'list', '--status', 'FAILED', '--json');
    const failed: { id: string }[] = JSON.parse(stdout);
    expect(failed).toHaveLength(1);
    return failed[0]?.id ?? '';
  });
  const { stdout: why } = await callOperator(env, 'delivery', 'why', id);
  const [status, found = '', ...rest] = why.trim().split('\n');
  expect([status, rest]).toEqual(['FAILED', []]);
  const times = [...found.matchAll(/\d{4}-\S+?Z/g)].map(([time]) => time);
  expect(found).toBe(
    `Claimed 5 times without a recorded attempt: ${times.join(', ')}. Each time, the worker ended or lost its lease. During the last two, nothing else was sent, so the delivery may be the cause. Find out what happened to the workers then, and send it again: deedwire-operator delivery retry ${id}`,
  );
  expect(times).toHaveLength(5);
  const timesMs = [startMs, ...times.map((time) => Date.parse(time)), Date.now()];
  expect(timesMs).toEqual(timesMs.toSorted((a, b) => a - b));
  expect((await callOperator(env, 'delivery', 'show', id)).stdout).toContain(`\n\n${found}\n`);

  const [{ command, ...alarm }] = alarms as [Record<string, string>];
  expect(alarm).toMatchObject({ level: 'error', alarm: 'delivery-given-up', claimedAt: times });
  deadly.onDelivery = acknowledge;
  expect((await callOperator(env, ...String(command).split(' ').slice(1))).exitCode).toBe(0);
  await eventually(async () => {
    expect((await callOperator(env, 'delivery', 'why', id)).stdout).toMatch(/^DELIVERED/);
    const { stdout } = await callOperator(env, 'delivery', 'list', '--json');
    const deliveries: { status: string }[] = JSON.parse(stdout);
    expect(deliveries.map(({ status: shown }) => shown)).toEqual(Array.from({ length: 4 }, () => 'DELIVERED'));
  });
});

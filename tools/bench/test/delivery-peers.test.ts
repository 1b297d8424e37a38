import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { expect, it } from 'vitest';
import { startPeerContestant, type PeerStore } from '../src/delivery/peer-contestant.ts';
import type { PeerName } from '../src/delivery/peers/index.ts';
import { measureRound } from '../src/delivery/rate-rounds.ts';
import { startReceiver } from '../src/delivery/receiver.ts';
import { hasRedis, startRedis } from '../src/delivery/redis.ts';
import { subscriptionCount, type Workload } from '../src/delivery/workloads.ts';
import { withCleanup } from '../src/with-cleanup.ts';

const workload: Workload = { name: 'a', title: 'Test', accounts: 3, subscriptionsPerAccount: 1 };
const usage = async () => ({ cpuMs: null, walBytes: null });

/** `measureRound` throws unless the receiver got each delivery once. */
async function measureTwoRounds(name: PeerName, store: PeerStore) {
  return withCleanup(async (defer) => {
    const receiver = await startReceiver(subscriptionCount(workload));
    defer(() => receiver.close());
    const { contestant, close } = await startPeerContestant(name, store, receiver.origins);
    defer(close);
    await measureRound(contestant, receiver, workload, 20);
    return measureRound(contestant, receiver, workload, 30);
  });
}

it('sends each delivery once without a queue', async () => {
  const measurement = await measureTwoRounds('bare', { url: '', usage });
  expect(measurement).toMatchObject({ operations: 30, storeCpuMs: null, walBytes: null });
});

it.each([
  ['pg-boss', `select count(*)::int as count from pgboss.job where state < 'completed'`],
  ['graphile-worker', 'select count(*)::int as count from graphile_worker._private_jobs'],
] as const)('sends each delivery once through %s and settles it', async (name, countUnsettled) => {
  await withCleanup(async (defer) => {
    const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
    defer(() => database.drop());
    expect(await measureTwoRounds(name, { url: database.databaseUrl, usage })).toMatchObject({ operations: 30 });
    const connection = await connect(database.databaseUrl);
    defer(() => connection.close());
    expect(await connection.run(countUnsettled)).toEqual([{ count: 0 }]);
  });
});

it.skipIf(!hasRedis())('sends each delivery once through BullMQ', async () => {
  await withCleanup(async (defer) => {
    const redis = await startRedis(() => {});
    if (redis === null) throw new Error('Redis did not start.');
    defer(() => redis.close());
    expect(await measureTwoRounds('bullmq', { url: redis.socket, usage })).toMatchObject({ operations: 30 });
  });
});

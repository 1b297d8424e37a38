import { startBenchPostgres, type BenchPostgres } from '../../postgres.ts';
import { processStat } from '../../process-cpu.ts';
import { withCleanup, type Defer } from '../../with-cleanup.ts';
import type { DeliveryContestant } from '../contestant.ts';
import { startOurs } from '../ours/start-ours.ts';
import type { Part, PartContext } from '../part.ts';
import { startPeerContestant } from '../peer-contestant.ts';
import type { PeerName } from '../peers/index.ts';
import { rateRatio, rateResult, runRateRounds, type RateMeasurement } from '../rate-rounds.ts';
import { startReceiverChild } from '../receiver-child.ts';
import { startRedis } from '../redis.ts';
import { ours, ratesMarkdown, type RatesResult } from '../report.ts';
import { receiverCount, workloads } from '../workloads.ts';

const peerNames: readonly PeerName[] = ['bare', 'pg-boss', 'graphile-worker', 'bullmq'];

const noStore = { url: '', usage: async () => ({ cpuMs: null, walBytes: null }) };

export const rates: Part<RatesResult> = {
  summary: 'deliveries per second, beside a bare signed POST, pg-boss, graphile-worker and BullMQ',

  async run({ quick, perRound = quick ? 200 : 8_000, progress }) {
    const rounds = quick ? 1 : 5;
    return withCleanup(async (defer) => {
      const postgres = await startBenchPostgres();
      defer(() => postgres.close());
      const receiver = await startReceiverChild(receiverCount);
      defer(() => receiver.close());
      const contestants: DeliveryContestant[] = [];
      const unavailable: RatesResult['unavailable'] = {};
      progress(`Starting ${ours}`);
      contestants.push(await startOurs({ postgres, receiver, defer }, { name: ours }));
      for (const name of peerNames) {
        progress(`Starting ${name}`);
        const store = await startStore(name, postgres, { quick, progress }, defer);
        if (typeof store === 'string') {
          unavailable[name] = store;
          continue;
        }
        const { contestant, close } = await startPeerContestant(name, store, receiver.origins);
        defer(close);
        contestants.push(contestant);
      }
      const results: RatesResult['workloads'] = [];
      for (const [index, workload] of workloads.entries()) {
        // The first workload compiles the code, the others only open connections.
        const warmUpRounds = quick || index > 0 ? 1 : 3;
        const plan = { warmUpRounds, rounds, perRound };
        const measured = await runRateRounds(contestants, receiver, workload, plan, progress);
        results.push({
          name: workload.name,
          title: workload.title,
          results: [...measured].map(([name, each]) => rateResult(name, each)),
          ratios: ratiosToOurs(measured),
        });
      }
      const [first] = results;
      if (first === undefined) throw new Error('There is no workload.');
      const deliveriesPerSecond = first.results.find(({ name }) => name === ours)?.perSecond ?? Number.NaN;
      return { deliveriesPerSecond, ratios: first.ratios, rounds, perRound, workloads: results, unavailable };
    });
  },

  markdown: ratesMarkdown,
};

/** Returns a sentence instead if the store cannot be had. */
async function startStore(
  name: PeerName,
  postgres: BenchPostgres,
  { quick, progress }: Pick<PartContext, 'quick' | 'progress'>,
  defer: Defer,
) {
  if (name === 'bare') return noStore;
  if (name !== 'bullmq') return { url: await postgres.createDatabase(name), usage: () => postgres.usage() };
  const redis = await startRedis(progress, { install: !quick });
  if (redis === null) return 'redis-server is not installed.';
  defer(() => redis.close());
  const usage = async () => ({ cpuMs: processStat(redis.pid)?.cpuMs ?? null, walBytes: null });
  return { url: redis.socket, usage };
}

function ratiosToOurs(measured: ReadonlyMap<string, readonly RateMeasurement[]>): Record<PeerName, number | null> {
  const ratio = (name: PeerName): number | null => {
    const other = measured.get(name);
    return other === undefined ? null : rateRatio(measured.get(ours) ?? [], other);
  };
  return {
    bare: ratio('bare'),
    'pg-boss': ratio('pg-boss'),
    'graphile-worker': ratio('graphile-worker'),
    bullmq: ratio('bullmq'),
  };
}

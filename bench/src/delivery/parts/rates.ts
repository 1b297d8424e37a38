import type { BenchOptions } from '../../bench.ts';
import { startChild } from '../../child.ts';
import type { BenchPostgres, StoreUsage } from '../../postgres.ts';
import { processStat } from '../../process-cpu.ts';
import { type Measurement, rateRatio } from '../../rounds.ts';
import type { Defer } from '../../with-cleanup.ts';
import { startOurs } from '../ours/start-ours.ts';
import { type PeerName, peerNames } from '../peer-names.ts';
import type { PeerRequest } from '../peer-process.ts';
import { type DeliveryContestant, measureWorkloads, rateResult } from '../rate-rounds.ts';
import { startRedis } from '../redis.ts';
import { withServers } from '../stack.ts';
import { firstReceiver, ours, receiverCount, subscriptionCount } from '../workloads.ts';

export type RatesResult = Awaited<ReturnType<typeof measureRates>>;

export function measureRates({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions) {
  const rounds = quick ? 1 : 5;
  return withServers(receiverCount, async ({ postgres, receiver }, defer) => {
    const unavailable: Partial<Record<PeerName, string>> = {};
    progress(`Starting ${ours}`);
    const contestants = [await startOurs({ postgres, receiver, defer }, { name: ours })];
    for (const name of peerNames) {
      progress(`Starting ${name}`);
      const store = await startStore(name, postgres, { install: !quick, progress }, defer);
      if (store === null) unavailable[name] = 'redis-server is not installed.';
      else contestants.push(await startPeerContestant(name, store, receiver.origins, defer));
    }
    const measured = await measureWorkloads(contestants, receiver, { quick, rounds, perRound, progress });
    const workloads = measured.map(({ measured: of, ...workload }) => {
      const own = of.get(ours) ?? [];
      const peers = [...of].filter(([name]) => name !== ours);
      return {
        ...workload,
        results: Array.from(of, ([name, each]) => rateResult(name, each)),
        ratios: Object.fromEntries(peers.map(([name, each]) => [name, rateRatio(own, each)])),
      };
    });
    const [first] = workloads;
    const deliveriesPerSecond = first?.results[0]?.perSecond ?? Number.NaN;
    // The rate of ours and its ratios to the peers are those of the first workload.
    return { deliveriesPerSecond, ratios: first?.ratios ?? {}, rounds, perRound, workloads, unavailable };
  });
}

/** Null if the store cannot be had. */
async function startStore(
  name: PeerName,
  postgres: BenchPostgres,
  options: Parameters<typeof startRedis>[0],
  defer: Defer,
): Promise<PeerStore | null> {
  if (name === 'bare') return { url: '', usage: async () => ({ cpuMs: null, walBytes: null }) };
  if (name !== 'bullmq') return { url: await postgres.createDatabase(name), usage: () => postgres.usage() };
  const redis = await startRedis(options, defer);
  if (redis === null) return null;
  const usage = async () => ({ cpuMs: processStat(redis.pid)?.cpuMs ?? null, walBytes: null });
  return { url: redis.socket, usage };
}

interface PeerStore {
  url: string;
  usage(): Promise<StoreUsage>;
}

/** Starts the process of a peer. Its deliveries take turns over the receivers of the workload. */
async function startPeerContestant(
  name: PeerName,
  store: PeerStore,
  origins: readonly string[],
  defer: Defer,
): Promise<DeliveryContestant> {
  const module = './delivery/peer-process.ts';
  const child = await startChild<PeerRequest, Measurement>(defer, module, name, store.url, JSON.stringify(origins));
  return {
    name,
    prepare(workload, deliveries) {
      const receivers = { firstReceiver: firstReceiver(workload), receivers: subscriptionCount(workload) };
      return child.ask({ request: 'add', deliveries, ...receivers });
    },
    async drain() {
      const measurement = await child.ask({ request: 'drain' });
      return { ...measurement, attempts: measurement.operations };
    },
    storeUsage: () => store.usage(),
  };
}

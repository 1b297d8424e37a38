import type { BenchOptions } from '../../bench.ts';
import type { BenchPostgres } from '../../postgres.ts';
import { processStat } from '../../process-cpu.ts';
import { rateRatio } from '../../rounds.ts';
import type { Defer } from '../../with-cleanup.ts';
import { startOurs } from '../ours/start-ours.ts';
import { type PeerStore, startPeerContestant } from '../peer-contestant.ts';
import { type PeerName, peerNames } from '../peer-names.ts';
import { measureWorkloads, rateResult, type RateResult } from '../rate-rounds.ts';
import { startRedis } from '../redis.ts';
import { withServers } from '../stack.ts';
import { ours, receiverCount } from '../workloads.ts';

export interface RatesResult {
  /** Ours in the first workload. */
  deliveriesPerSecond: number;
  /** Ours divided by each peer in the first workload, without a peer that could not run. */
  ratios: Record<string, number>;
  rounds: number;
  perRound: number;
  workloads: { name: string; title: string; results: RateResult[]; ratios: Record<string, number> }[];
  /** Why a peer could not run. */
  unavailable: Partial<Record<PeerName, string>>;
}

export function measureRates({ quick, perRound = quick ? 200 : 8_000, progress }: BenchOptions): Promise<RatesResult> {
  const rounds = quick ? 1 : 5;
  return withServers(receiverCount, async ({ postgres, receiver }, defer) => {
    const unavailable: RatesResult['unavailable'] = {};
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

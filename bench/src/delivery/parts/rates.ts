import { spawnSync, type SpawnSyncOptions } from 'node:child_process';
import type { BenchOptions } from '../../bench.ts';
import { startChild } from '../../child.ts';
import type { BenchPostgres } from '../../postgres.ts';
import { processStat } from '../../process-cpu.ts';
import { type Measurement, rateRatio } from '../../rounds.ts';
import type { Defer } from '../../with-cleanup.ts';
import { startOurs } from '../ours/start-ours.ts';
import { type PeerName, peerNames } from '../peer-names.ts';
import type { PeerRequest } from '../peer-process.ts';
import { type DeliveryContestant, measureWorkloads, rateResult } from '../rate-rounds.ts';
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
      if (name === 'bullmq' && !ensureRedis({ quick, progress })) unavailable[name] = 'redis-server is not installed.';
      else contestants.push(await startPeerContestant(name, postgres, receiver.origins, defer));
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

/** Starts the process of a peer. Its deliveries take turns over the receivers of the workload. */
async function startPeerContestant(
  name: PeerName,
  postgres: BenchPostgres,
  origins: readonly string[],
  defer: Defer,
): Promise<DeliveryContestant> {
  const isOnPostgres = name !== 'bare' && name !== 'bullmq';
  const args = [
    name,
    isOnPostgres ? await postgres.createDatabase(name) : '',
    JSON.stringify(origins.map((origin) => `${origin}/hooks`)),
  ];
  const child = await startChild<PeerRequest, Measurement>(defer, './delivery/peer-process.ts', ...args);
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
    async storeUsage() {
      if (isOnPostgres) return postgres.usage();
      return { cpuMs: processStat(Number(child.ready))?.cpuMs ?? null, walBytes: null };
    },
  };
}

const hasRedis = (): boolean => spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

/** Whether redis-server is installed. Installs it where root runs this on Debian, unless `quick`. */
function ensureRedis({ quick, progress }: { quick: boolean; progress: (line: string) => void }): boolean {
  if (hasRedis() || quick || process.getuid?.() !== 0) return hasRedis();
  progress('Installing redis-server with apt-get');
  // In run level 1, Debian's packages do not start their services.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const options: SpawnSyncOptions = { env, stdio: ['ignore', 'ignore', 'inherit'] };
  spawnSync('apt-get', ['-qq', 'update'], options);
  spawnSync('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', 'redis-server'], options);
  return hasRedis();
}

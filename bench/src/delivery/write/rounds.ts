import { median } from 'simple-statistics';
import type { Child } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-process.ts';
import type { BenchPostgres } from '../../postgres.ts';
import { wholeNumber } from '../../report.ts';
import { difference, type Done, interleaved, knownMedian, medianRatio, perSecond, rateRatio } from '../../rounds.ts';
import type { Receivers } from '../receivers.ts';

/** An API that commits a record with its event, and a worker that sends the webhook, each in its own process. */
export interface WriteContestant {
  readonly name: string;
  /** Each one causes one delivery. */
  readonly request: Omit<LoadRequest, 'connections' | 'durationMs'>;
  /** The CPU time of its processes, as soon as the result of each delivery is recorded. */
  settledCpuMs(): Promise<{ api: number; worker: number }>;
}

/** One round of one contestant. An operation ends when its webhook has arrived. */
export interface WriteMeasurement extends Done {
  /** In milliseconds, until the last result was recorded. Null where the platform does not tell. */
  cpuMs: { api: number; worker: number; postgres: number | null };
}

export interface WriteServers {
  load: Child<LoadRequest, LoadResult>;
  receiver: Receivers;
  postgres: BenchPostgres;
}

export interface WritePlan {
  connections: number;
  rounds: number;
  roundMs: number;
  /** Not measured: it compiles the code. */
  warmUpMs: number;
}

/** The contestants take turns in each round. */
export async function runWriteRounds(
  contestants: readonly WriteContestant[],
  servers: WriteServers,
  { connections, rounds, roundMs, warmUpMs }: WritePlan,
  progress: (line: string) => void,
) {
  for (const contestant of contestants) {
    progress(`Warm-up: ${contestant.name}`);
    await measureRound(contestant, servers, { connections, durationMs: warmUpMs });
  }
  return interleaved(contestants, rounds, async (contestant, round) => {
    const measurement = await measureRound(contestant, servers, { connections, durationMs: roundMs });
    progress(`Round ${round} of ${rounds}: ${contestant.name} ${wholeNumber(perSecond(measurement))}/s`);
    return measurement;
  });
}

export async function measureRound(
  contestant: WriteContestant,
  { load, receiver, postgres }: WriteServers,
  plan: Pick<LoadRequest, 'connections' | 'durationMs'>,
): Promise<WriteMeasurement> {
  const readCpuMs = async (): Promise<WriteMeasurement['cpuMs']> => ({
    ...(await contestant.settledCpuMs()),
    postgres: (await postgres.usage()).cpuMs,
  });
  await receiver.forget();
  const before = await readCpuMs();
  const startMs = performance.now();
  const { operations } = await load.ask({ ...contestant.request, ...plan });
  await receiver.waitFor(operations);
  const elapsedMs = performance.now() - startMs;
  const after = await readCpuMs();
  const [api, worker] = [after.api - before.api, after.worker - before.worker];
  return { operations, elapsedMs, cpuMs: { api, worker, postgres: difference(after.postgres, before.postgres) } };
}

/**
 * Medians over the rounds. The ratios divide the values of the first contestant by those of each one in the same round.
 *
 * @param measured the rounds of each contestant, in order
 */
export function writeResults(measured: ReadonlyMap<string, readonly WriteMeasurement[]>) {
  const [first = []] = measured.values();
  return Array.from(measured, ([name, rounds]) => {
    const cpu = (part: keyof WriteMeasurement['cpuMs']): number | null =>
      knownMedian(rounds.map(({ cpuMs, operations }) => inMicroseconds(cpuMs[part], operations)));
    return {
      name,
      eventsPerSecond: median(rounds.map(perSecond)),
      // In microseconds per event.
      cpu: {
        api: cpu('api') ?? Number.NaN,
        worker: cpu('worker') ?? Number.NaN,
        postgres: cpu('postgres'),
        total: knownMedian(rounds.map(totalMicroseconds)),
      },
      rateRatio: rateRatio(first, rounds),
      cpuRatio: medianRatio(first, rounds, totalMicroseconds),
    };
  });
}

/** Per event. */
function totalMicroseconds({ cpuMs: { api, worker, postgres }, operations }: WriteMeasurement): number | null {
  return inMicroseconds(postgres === null ? null : api + worker + postgres, operations);
}

function inMicroseconds(ms: number | null, operations: number): number | null {
  return ms === null ? null : (ms * 1000) / operations;
}

import { median } from 'simple-statistics';
import type { Child } from '../../child.ts';
import type { LoadRequest, LoadResult } from '../../graphql/load-protocol.ts';
import { wholeNumber } from '../../markdown-table.ts';
import type { BenchPostgres } from '../../postgres.ts';
import type { ReceiverChild } from '../receiver-child.ts';
import type { WriteContestant } from './contestant.ts';

/** CPU time. Null where the platform does not tell. */
export interface WriteCpu {
  api: number;
  worker: number;
  postgres: number | null;
}

/** One round of one contestant. */
export interface WriteMeasurement {
  events: number;
  /** Until the last webhook arrived. */
  elapsedMs: number;
  /** In milliseconds, until the last result was recorded. */
  cpuMs: WriteCpu;
}

/** Medians over the rounds. */
export interface WriteContestantResult {
  name: string;
  eventsPerSecond: number;
  /** In microseconds per event. */
  cpu: WriteCpu & { total: number | null };
  /** The rate of the first contestant divided by that of this one in the same round. */
  rateRatio: number;
  /** The same of the CPU time per event. */
  cpuRatio: number | null;
}

export interface WriteServers {
  load: Child<LoadRequest, LoadResult>;
  receiver: ReceiverChild;
  postgres: BenchPostgres;
}

export interface WritePlan {
  connections: number;
  rounds: number;
  roundMs: number;
  /** Not measured: it compiles the code. */
  warmUpMs: number;
}

/** The contestants take turns in each round, which starts with another one. */
export async function runWriteRounds(
  contestants: readonly WriteContestant[],
  servers: WriteServers,
  { connections, rounds, roundMs, warmUpMs }: WritePlan,
  progress: (line: string) => void,
): Promise<WriteContestantResult[]> {
  for (const contestant of contestants) {
    progress(`Warm-up: ${contestant.name}`);
    await measureRound(contestant, servers, { connections, durationMs: warmUpMs });
  }
  const measured = new Map<string, WriteMeasurement[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contestants.length;
    for (const contestant of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      const measurement = await measureRound(contestant, servers, { connections, durationMs: roundMs });
      measured.get(contestant.name)?.push(measurement);
      progress(`Round ${round + 1} of ${rounds}: ${contestant.name} ${wholeNumber(perSecond(measurement))}/s`);
    }
  }
  return writeResults(measured);
}

export async function measureRound(
  contestant: WriteContestant,
  { load, receiver, postgres }: WriteServers,
  { connections, durationMs }: Pick<LoadRequest, 'connections' | 'durationMs'>,
): Promise<WriteMeasurement> {
  const readCpuMs = async (): Promise<WriteCpu> => ({
    ...(await contestant.settledCpuMs()),
    postgres: (await postgres.usage()).cpuMs,
  });
  await receiver.forget();
  const before = await readCpuMs();
  const startMs = performance.now();
  const { requests: events } = await load.ask({ ...contestant.request, connections, durationMs });
  await receiver.waitFor(events);
  const elapsedMs = performance.now() - startMs;
  const after = await readCpuMs();
  return {
    events,
    elapsedMs,
    cpuMs: {
      api: after.api - before.api,
      worker: after.worker - before.worker,
      postgres: before.postgres === null || after.postgres === null ? null : after.postgres - before.postgres,
    },
  };
}

/** @param measured the rounds of each contestant, in order */
export function writeResults(measured: ReadonlyMap<string, readonly WriteMeasurement[]>): WriteContestantResult[] {
  const [reference = []] = measured.values();
  return [...measured].map(([name, rounds]) => {
    const ratio = (value: (measurement: WriteMeasurement) => number | null): number | null =>
      medianOf(
        rounds.map((measurement, round) => {
          const ours = reference[round];
          const [dividend, divisor] = [ours === undefined ? null : value(ours), value(measurement)];
          return dividend === null || divisor === null ? null : dividend / divisor;
        }),
      );
    const cpu = (part: keyof WriteCpu): number | null =>
      medianOf(rounds.map(({ cpuMs, events }) => perEvent(cpuMs[part], events)));
    return {
      name,
      eventsPerSecond: median(rounds.map(perSecond)),
      cpu: {
        api: cpu('api') ?? Number.NaN,
        worker: cpu('worker') ?? Number.NaN,
        postgres: cpu('postgres'),
        total: medianOf(rounds.map(totalPerEvent)),
      },
      rateRatio: ratio(perSecond) ?? Number.NaN,
      cpuRatio: ratio(totalPerEvent),
    };
  });
}

function perSecond({ events, elapsedMs }: WriteMeasurement): number {
  return (events / elapsedMs) * 1000;
}

function totalPerEvent({ cpuMs: { api, worker, postgres }, events }: WriteMeasurement): number | null {
  return perEvent(postgres === null ? null : api + worker + postgres, events);
}

/** In microseconds. */
function perEvent(ms: number | null, events: number): number | null {
  return ms === null ? null : (ms * 1000) / events;
}

function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? median(known) : null;
}

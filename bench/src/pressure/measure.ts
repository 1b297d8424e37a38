import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../bench.ts';
import { machineMs } from '../child.ts';
import { difference } from '../rounds.ts';
import { startArrivals } from './arrivals.ts';
import { accountCount, type Contestant, type Scene } from './contestant.ts';
import { type Ledger, openLedger } from './ledger.ts';
import type { Pressure } from './pressures.ts';
import { type Phase, summarize } from './summarize.ts';
import { readTableSizes, watchTableSizes } from './table-sizes.ts';

export type Pressed = Awaited<ReturnType<typeof measurePressure>>;

/** What a worker has in flight to an endpoint. */
const inFlight = 16;
// Guards against hanging only.
const arrivalTimeoutMs = 600_000;

function durations({ quick }: Pick<BenchOptions, 'quick'>, { durationMs = 120_000 }: Pick<Pressure, 'durationMs'>) {
  return quick
    ? { calibrationMs: 2_000, beforeMs: 3_000, durationMs: 10_000, afterMs: 3_000 }
    : { calibrationMs: 15_000, beforeMs: 20_000, durationMs, afterMs: 30_000 };
}

/** Waits until every event has arrived that was committed. */
export async function untilArrived({ pending }: Ledger): Promise<void> {
  const deadline = performance.now() + arrivalTimeoutMs;
  while (pending.size > 0 && performance.now() < deadline) await sleep(50);
}

/** The events per second that arrive while as many as possible are committed. */
export async function measureMaximum({ contestant, receiver }: Scene, durationMs: number): Promise<number> {
  const ledger = await openLedger(receiver);
  const startMs = machineMs();
  const arrivals = startArrivals(contestant, ledger, null);
  await sleep(durationMs);
  await arrivals.stop();
  await untilArrived(ledger);
  await ledger.close();
  const lastMs = ledger.arrived.reduce((last, { arrivedMs }) => Math.max(last, arrivedMs), startMs);
  return (ledger.arrived.length / (lastMs - startMs)) * 1000;
}

/**
 * Measures a contestant at half of its maximum: before a pressure, during it, and after it.
 *
 * @throws {Error} if an event that was committed does not arrive, or more arrive again than the pressure explains
 */
export async function measurePressure<Tested extends Contestant>(
  scene: Scene<Tested>,
  pressure: Pressure<Tested>,
  { quick, progress }: Pick<BenchOptions, 'quick' | 'progress'>,
) {
  const { contestant, postgres, receiver } = scene;
  const { calibrationMs, beforeMs, durationMs, afterMs } = durations({ quick }, pressure);
  // Compiles the code and opens the connections.
  await measureMaximum(scene, calibrationMs / 5);
  const maximumPerSecond = await measureMaximum(scene, calibrationMs);
  const perSecond = maximumPerSecond / 2;
  progress(`${contestant.name}: ${pressure.title}, at ${Math.round(perSecond)} events per second`);

  const ledger = await openLedger(receiver);
  const arrivals = startArrivals(contestant, ledger, perSecond);
  const cpuMs: (number | null)[] = [];
  const mark = async (): Promise<number> => {
    cpuMs.push((await postgres.usage()).cpuMs);
    return machineMs();
  };
  const phase: Phase = { startMs: await mark(), pressureMs: 0, reliefMs: 0, endMs: 0 };
  const sizesBefore = await readTableSizes(contestant.databaseUrl);
  await sleep(beforeMs);
  const sizesMost = await watchTableSizes(contestant.databaseUrl, async () => {
    phase.pressureMs = await mark();
    await pressure.apply(scene, { arrivals, ledger, durationMs, quick });
    phase.reliefMs = await mark();
    await sleep(afterMs);
    phase.endMs = await mark();
  });
  await arrivals.stop();
  await untilArrived(ledger);
  await ledger.close();
  const sizesAfter = await readTableSizes(contestant.databaseUrl);

  const { pending, counts } = ledger;
  const repeatsMax = pressure.interruptions * inFlight * accountCount;
  if (pending.size > 0) throw new Error(`${contestant.name}: ${pending.size} events did not arrive.`);
  if (counts.repeats > repeatsMax)
    throw new Error(`${contestant.name}: ${counts.repeats} events arrived again, more than ${repeatsMax}.`);
  const [start = null, pressed = null, relieved = null] = cpuMs;
  return {
    contestant: contestant.name,
    title: pressure.title,
    maximumPerSecond,
    perSecond,
    ...summarize(ledger.arrived, phase),
    ...counts,
    /** CPU time of PostgreSQL per second. */
    postgresCpu: {
      before: perMs(difference(pressed, start), phase.pressureMs - phase.startMs),
      during: perMs(difference(relieved, pressed), phase.reliefMs - phase.pressureMs),
    },
    tables: sizesMost.map(({ table, deadRows, bytes }) => {
      const [before, after] = [sizesBefore, sizesAfter].map((sizes) => sizes.find((each) => each.table === table));
      return {
        table,
        deadRows: { before: before?.deadRows ?? 0, most: deadRows, after: after?.deadRows ?? 0 },
        bytes: { before: before?.bytes ?? 0, most: bytes, after: after?.bytes ?? 0 },
      };
    }),
  };
}

function perMs(value: number | null, durationMs: number): number | null {
  return value === null ? null : value / durationMs;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { linearRegression, quantile } from 'simple-statistics';
import type { BenchOptions } from '../bench.ts';
import { machineMs } from '../child.ts';
import { startArrivals } from './arrivals.ts';
import { openLedger } from './ledger.ts';
import { measureMaximum, untilArrived } from './measure.ts';
import { withOurs } from './scene.ts';
import { readTableSizes } from './table-sizes.ts';

interface Sample {
  atMs: number;
  deadRows: number;
  bytes: number;
  events: number;
  workerBytes: number;
}

/** Half of the maximum for 45 minutes. Slopes leave out the first third, in which caches and tables reach their size. */
export function measureSoak({ quick, progress }: BenchOptions) {
  const [durationMs, sampleMs, calibrationMs] = quick ? [10_000, 1_000, 2_000] : [45 * 60_000, 15_000, 15_000];
  return withOurs(async (scene) => {
    await measureMaximum(scene, calibrationMs / 5);
    const perSecond = (await measureMaximum(scene, calibrationMs)) / 2;
    progress(`${durationMs / 60_000} minutes at ${Math.round(perSecond)} events per second`);
    const { contestant, receiver } = scene;
    const ledger = await openLedger(receiver);
    const arrivals = startArrivals(contestant, ledger, perSecond);
    const startMs = machineMs();
    const samples: Sample[] = [];
    while (machineMs() < startMs + durationMs) {
      await sleep(sampleMs);
      const tables = await readTableSizes(contestant.databaseUrl);
      const sum = (value: 'deadRows' | 'bytes') => tables.reduce((total, table) => total + table[value], 0);
      const { residentBytes: workerBytes } = await contestant.worker().usage();
      const events = ledger.arrived.length;
      samples.push({
        atMs: machineMs() - startMs,
        deadRows: sum('deadRows'),
        bytes: sum('bytes'),
        events,
        workerBytes,
      });
    }
    await arrivals.stop();
    await untilArrived(ledger);
    await ledger.close();
    const settled = samples.filter(({ atMs }) => atMs >= durationMs / 3);
    const slope = (of: keyof Sample, per: keyof Sample, unit: number): number =>
      linearRegression(settled.map((sample) => [sample[per], sample[of]])).m * unit;
    const latencies = ledger.arrived.map(({ committedMs, arrivedMs }) => arrivedMs - committedMs);
    return {
      durationMs,
      perSecond,
      events: ledger.arrived.length,
      repeats: ledger.counts.repeats,
      p99Ms: quantile(latencies, 0.99),
      deadRows: { last: samples.at(-1)?.deadRows ?? 0, perHour: slope('deadRows', 'atMs', 3_600_000) },
      bytesPerEvent: slope('bytes', 'events', 1),
      workerBytes: { last: samples.at(-1)?.workerBytes ?? 0, perHour: slope('workerBytes', 'atMs', 3_600_000) },
      samples,
    };
  });
}

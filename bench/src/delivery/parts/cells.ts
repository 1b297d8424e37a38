import { median } from 'simple-statistics';
import type { BenchOptions } from '../../bench.ts';
import { startBenchPostgres } from '../../postgres.ts';
import { cpuMicroseconds, interleaved, meanRatio, type Measurement } from '../../rounds.ts';
import { paced } from '../latency.ts';
import { createOurSystem } from '../ours/our-system.ts';
import { withServers } from '../stack.ts';
import { startOurContestants } from '../write/our-contestants.ts';

/**
 * The CPU time of one cell, and of two that share the same rate. At the second rate, a worker often takes several deliveries together,
 * and that of each of two cells fewer. A cell is an API, a worker and PostgreSQL.
 */
export function measureCells({ quick }: BenchOptions) {
  const [rounds, seconds, rates] = quick ? [1, 2, [50]] : [10, 10, [100, 300]];
  return withServers(2, async ({ postgres, receiver }, defer) => {
    const cells: (typeof postgres & Awaited<ReturnType<typeof startOurContestants>>['withoutKeys'])[] = [];
    for (const [number, origin] of receiver.origins.entries()) {
      const server = cells.length === 0 ? postgres : await startBenchPostgres(defer);
      const system = await createOurSystem(server, 'cell', defer);
      const apps = await startOurContestants(system, `${origin}/hooks/${number}`, { built: false, defer });
      cells.push({ ...server, ...apps.withoutKeys });
    }
    const measureRound = async (some: typeof cells, perSecond: number, operations: number): Promise<Measurement> => {
      const readCpuMs = async (): Promise<number> => {
        const each = await Promise.all(some.map((cell) => Promise.all([cell.settledCpuMs(), cell.usage()])));
        return each.reduce((sum, [{ api, worker }, { cpuMs }]) => sum + api + worker + (cpuMs ?? Number.NaN), 0);
      };
      await receiver.forget();
      const [startCpuMs, startMs] = [await readCpuMs(), performance.now()];
      await paced(operations, perSecond, async (index) => {
        const { origin = '', path = '', headers = [], body = '' } = some[index % some.length]?.request ?? {};
        const sent = { method: 'POST', headers: headers[0] ?? {}, body: body.replace('{n}', String(index)) };
        const answer = await (await fetch(origin + path, sent)).text();
        if (!answer.includes('"userErrors":[]')) throw new Error(answer);
      });
      await receiver.waitFor(operations);
      return { operations, cpuMs: (await readCpuMs()) - startCpuMs, elapsedMs: performance.now() - startMs };
    };
    const contestants = [1, 2].map((count) => ({ name: String(count), of: cells.slice(0, count) }));
    const results = [];
    for (const perSecond of rates) {
      const operations = perSecond * seconds;
      for (const { of } of contestants) await measureRound(of, perSecond, operations / 2);
      const measured = await interleaved(contestants, rounds, ({ of }) => measureRound(of, perSecond, operations));
      const [one = [], two = []] = ['1', '2'].map((name) => (measured.get(name) ?? []).map(cpuMicroseconds));
      const ratio = meanRatio(two.map((each, round) => each / (one[round] ?? Number.NaN)));
      results.push({ perSecond, one: median(one), two: median(two), ratio });
    }
    return results;
  });
}

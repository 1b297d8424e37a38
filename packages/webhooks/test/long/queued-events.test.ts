import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { shardOf } from '../../src/kernel/ids.ts';
import { closeAfterTest, FanOutWorld } from '../fan-out/fan-out-world.ts';
import { type SeededAccount, seedAccount } from '../support/seed.ts';
import type { FanOutProcessOptions, FanOutProcessReport } from './support/fan-out-process.ts';

const queued = 1_000_000;
const eventsPerInsert = 50_000;
const measuredMs = 60_000;
/** Of a receiver with a full window that responds after 20 ms. */
const pacedPerSecond = 800;
/** In MB: the peak of the process that fans out. */
const [pacedMax, drainedMax] = [130, 175];

async function queueEvents(world: FanOutWorld, { id, interfaceName }: SeededAccount, count: number): Promise<void> {
  for (let done = 0; done < count; done += eventsPerInsert) {
    await world.rows(
      `with event as (
         insert into webhook_event (account_id, interface, event_type, snapshot)
         select $1, $2, 'order.placed', json_build_object('number', number) from generate_series(1, $3::int) number
         returning id
       )
       insert into webhook_event_queue (account_id, interface, event_id) select $1, $2, id from event order by id`,
      [id, interfaceName, Math.min(eventsPerInsert, count - done)],
    );
  }
}

async function startFanOut(options: FanOutProcessOptions, compileCache: string): Promise<ChildProcess> {
  const child = fork(new URL('support/fan-out-process.ts', import.meta.url), [JSON.stringify(options)], {
    execArgv: ['--conditions=deedwire-source', '--max-semi-space-size=16', '--no-parallel-scavenge'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  closeAfterTest(async () => void child.kill('SIGKILL'));
  await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => Promise.reject(error))]);
  return child;
}

/** Adds an event of `other` after another until `isDone`, and prints how long each takes from the commit to its delivery. */
async function measure(
  name: string,
  world: FanOutWorld,
  child: ChildProcess,
  other: SeededAccount,
  isDone: () => Promise<boolean>,
): Promise<number> {
  const waits: number[] = [];
  const reportOf = async (kind: FanOutProcessReport['kind']): Promise<FanOutProcessReport> => {
    for (;;) {
      const [report]: FanOutProcessReport[] = await once(child, 'message');
      if (report?.kind === kind) return report;
    }
  };
  const startedAtMs = performance.now();
  for (;;) {
    const offered = reportOf('other');
    await world.addEvents(other, 1);
    const committedAtMs = performance.now();
    child.send([shardOf(other.id)]);
    await offered;
    waits.push(performance.now() - committedAtMs);
    const progress = reportOf('progress');
    child.send([]);
    const report = await progress;
    if (await isDone()) {
      const seconds = (performance.now() - startedAtMs) / 1_000;
      const peakMb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1.024e-3;
      const sorted = waits.toSorted((a, b) => a - b);
      process.stdout.write(
        `${name}: ${report.offeredHot} of ${queued} in ${seconds.toFixed(0)} s, ${report.rssMb.toFixed(0)} MB, ` +
          `peak ${peakMb.toFixed(0)} MB; ${waits.length} events of another account waited ` +
          `p50 ${sorted[sorted.length >> 1]?.toFixed(1)} ms, p99 ${sorted[Math.floor(sorted.length * 0.99)]?.toFixed(1)} ms\n`,
      );
      return peakMb;
    }
    await setTimeout(50);
  }
}

function after(durationMs: number): () => Promise<boolean> {
  const endMs = performance.now() + durationMs;
  return async () => performance.now() > endMs;
}

test.skipIf(process.platform !== 'linux')(
  'a million queued events of one account take no memory, whether they leave slowly or at once',
  async () => {
    const world = await FanOutWorld.create();
    const [hot, other] = [await seedAccount(world.store), await seedAccount(world.store)];
    await world.subscribe(hot, '2026-11-01');
    await world.subscribe(other, '2026-11-01');
    const options = { databaseUrl: world.databaseUrl, workerId: world.workerId, hot: hot.id };

    const compileCache = mkdtempSync(join(tmpdir(), 'deedwire-queued-events-'));
    closeAfterTest(async () => rmSync(compileCache, { recursive: true }));

    /** Returns the peak. */
    const run = async (name: string, perSecond: number | null, isDone: () => Promise<boolean>): Promise<number> => {
      const child = await startFanOut({ ...options, perSecond }, compileCache);
      const ended = once(child, 'exit');
      const peak = await measure(name, world, child, other, isDone);
      child.kill('SIGKILL');
      await ended;
      return peak;
    };

    await run('The first process, which compiles', null, after(0));
    await run('Nothing queued', null, after(measuredMs));
    await queueEvents(world, hot, queued);
    const paced = await run('Paced', pacedPerSecond, after(measuredMs));
    const [left] = await world.rows<{ count: number }>('select count(*)::int as count from webhook_event_queue');
    await queueEvents(world, hot, queued - (left?.count ?? 0));
    await world.rows('analyze');
    const drained = await run('Drained', null, () => world.isQueueEmpty());
    expect(paced).toBeLessThanOrEqual(pacedMax);
    expect(drained).toBeLessThanOrEqual(drainedMax);
  },
);

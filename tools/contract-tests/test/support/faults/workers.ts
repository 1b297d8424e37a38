import { spawnSync } from 'node:child_process';
import type { RunningApp } from '@deedwire/dev-environment';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import type { FaultSystem } from './fault-system.ts';

/** Guards against hanging only: workers share the shards within a lease. */
const sharedWithinMs = 120_000;

/** Waits until the workers own these numbers of shards, and no other worker owns any. */
export async function untilShared(
  { observer }: FaultSystem,
  shares: readonly (readonly [worker: RunningApp, shards: readonly number[]])[],
): Promise<void> {
  await eventually(async () => {
    const rows = await observer.run(
      `select split_part(w.name, '/', 2)::int as pid, count(*)::int as shards
       from webhook_shard s join webhook_worker w on w.id = s.worker_id
       where w.alive group by pid`,
    );
    const owned = new Map(rows.map((row) => [row['pid'], Number(row['shards'])]));
    for (const [{ pid }, shards] of shares) expect(shards).toContain(owned.get(pid));
    expect(owned.size).toBe(shares.length);
    expect([...owned.values()].reduce((sum, count) => sum + count, 0)).toBe(64);
  }, sharedWithinMs);
}

/** Suspends a process, and resolves when it no longer runs. */
export async function suspend(app: RunningApp): Promise<void> {
  app.kill('SIGSTOP');
  await eventually(() => {
    const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', String(app.pid)], { encoding: 'utf8' });
    expect(stdout.trim()).toMatch(/^T/);
  });
}

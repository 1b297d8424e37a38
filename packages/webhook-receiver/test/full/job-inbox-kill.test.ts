import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import { expect, test } from 'vitest';
import { startJobInboxSystem } from '../support/job-inbox-system.ts';
import { jobLibraries } from '../support/job-libraries.ts';

// Only real processes show what the database and the library do with the transactions and jobs of a killed one.
/** `ROUNDS=20` is a longer run. */
const rounds = Number(process.env['ROUNDS'] ?? 1);

test.each(jobLibraries)(
  'deliveries that are repeated 64 times have one effect each if the receiver and the job worker of %s are killed',
  { timeout: 120_000 * rounds },
  async (name, library) => {
    const system = await startJobInboxSystem(name, library);
    const ids: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [receiverKilled, workerKilled] = [`receiver_killed_${round}`, `worker_killed_${round}`];
      ids.push(receiverKilled, workerKilled);
      await Promise.race(system.sendAll(receiverKilled));
      await system.kill('receiver');
      await system.acknowledge(receiverKilled);
      const handling = untilHandling(system.jobs, workerKilled);
      const answered = Promise.all(system.sendAll(workerKilled));
      await handling;
      await system.kill('jobs');
      await answered;
    }
    const { effects, interrupted } = await system.finish();
    expect(interrupted).toBeGreaterThan(0);
    const finished = ids.map((id) => ({ id, finished: true }));
    expect(effects).toEqual(finished.toSorted((one, other) => one.id.localeCompare(other.id)));
  },
);

/** Resolves when the handler of a delivery has made one of its two changes. */
async function untilHandling(child: ChildProcess, id: string): Promise<void> {
  for await (const [message] of on(child, 'message')) if (message.handling === id) return;
}

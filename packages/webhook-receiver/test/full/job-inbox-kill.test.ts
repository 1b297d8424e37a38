import type { ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import { expect, test } from 'vitest';
import { startJobInboxSystem } from '../support/job-inbox-system.ts';
import { jobLibraries } from '../support/job-libraries.ts';

// Only real processes show what the database and the library do with the transactions and jobs of a killed one.
// `long/job-inbox-kills.test.ts` kills them at random points.
test.each(jobLibraries)(
  'deliveries that are repeated 64 times have one effect each if the receiver and the job worker of %s are killed',
  { timeout: 120_000 },
  async (name, library) => {
    const system = await startJobInboxSystem(name, library);
    const received = system.sendAll('receiver_killed');
    await Promise.race(received);
    await system.kill('receiver');
    await system.acknowledge('receiver_killed');
    const handling = untilHandling(system.jobs, 'worker_killed');
    const answered = Promise.all(system.sendAll('worker_killed'));
    await handling;
    await system.kill('jobs');
    await answered;
    const { effects, interrupted } = await system.finish();
    expect(interrupted).toBeGreaterThan(0);
    expect(effects).toEqual(['receiver_killed', 'worker_killed'].map((id) => ({ id, finished: true })));
  },
);

/** Resolves when the handler of a delivery has made one of its two changes. */
async function untilHandling(child: ChildProcess, id: string): Promise<void> {
  for await (const [message] of on(child, 'message')) if (message.handling === id) return;
}

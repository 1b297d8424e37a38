import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startJobInboxSystem } from '../support/job-inbox-system.ts';
import { jobLibraries } from '../support/job-libraries.ts';

const kills = 40;

test.each(jobLibraries)(
  'deliveries that are repeated 64 times have one effect each if processes of %s are killed at random points',
  { timeout: 600_000 },
  async (name, library) => {
    const system = await startJobInboxSystem(name, library);
    const ids = Array.from({ length: kills }, (_, kill) => `killed_${String(kill).padStart(2, '0')}`);
    let unanswered = 0;
    for (const [kill, id] of ids.entries()) {
      const statuses = system.sendAll(id);
      // A worker of pg-boss looks for jobs every 0.5 s.
      if (kill % 2 === 1) await Promise.race(statuses);
      await sleep(Math.random() * (kill % 2 === 0 ? 100 : 600));
      await system.kill(kill % 2 === 0 ? 'receiver' : 'jobs');
      unanswered += (await Promise.all(statuses)).filter((status) => status === null).length;
      await system.acknowledge(id);
    }
    const { effects, interrupted } = await system.finish();
    process.stdout.write(`${name}: ${unanswered} requests had no response, ${interrupted} jobs were interrupted\n`);
    expect(unanswered).toBeGreaterThan(0);
    expect(effects).toEqual(ids.map((id) => ({ id, finished: true })));
  },
);

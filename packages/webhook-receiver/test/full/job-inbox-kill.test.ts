import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { eventually } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { openDatabase } from '../support/database.ts';
import { deliveryOf, secret, send } from '../support/delivery.ts';
import { jobLibraries } from '../support/job-libraries.ts';

// Only real processes show what the database and the library do with the transactions and jobs of a killed one.
/** `ROUNDS=20` is a longer run. */
const rounds = Number(process.env['ROUNDS'] ?? 1);

const { database, pool } = await openDatabase(
  'create table effect (delivery_id text not null, finished boolean not null default false)',
);

test.each(jobLibraries)(
  'deliveries that are repeated 64 times have one effect each if the receiver and the job worker of %s are killed',
  { timeout: 120_000 * rounds },
  async (name, { errors, unlock }) => {
    const start = async (role: string) => {
      const databaseUrl = new URL(database.databaseUrl);
      databaseUrl.searchParams.set('application_name', role);
      const program = new URL('../support/job-inbox-process.ts', import.meta.url);
      const child = fork(program, [databaseUrl.href, secret, name, role], {
        execArgv: ['--conditions=deedwire-source'],
      });
      const [{ port }] = await once(child, 'message');
      return { child, url: `http://127.0.0.1:${port}/` };
    };
    const processes = { receiver: await start('receiver'), jobs: await start('jobs') };
    const sendOnce = async (id: string) => (await send(processes.receiver.url, deliveryOf({ id }))).status;
    /** Each resolves with its status, or null without a response. */
    const sendAll = (id: string) => Array.from({ length: 64 }, () => sendOnce(id).catch(() => null));

    /** How many jobs killed workers had. */
    let interrupted = 0;
    /** Kills a process and starts another one. */
    const kill = async (role: 'jobs' | 'receiver') => {
      const { child } = processes[role];
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      // Its sessions end later: one could take a job that was unlocked before, for a process that is gone.
      const sessions = 'select from pg_stat_activity where datname = current_database() and application_name = $1';
      await eventually(async () => expect((await pool.query(sessions, [role])).rowCount).toBe(0));
      // The library does so after minutes or hours.
      if (role === 'jobs') interrupted += (await pool.query(unlock)).rowCount ?? 0;
      processes[role] = await start(role);
    };

    const ids: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const [receiverKilled, workerKilled] = [`${name}_receiver_${round}`, `${name}_worker_${round}`] as const;
      ids.push(receiverKilled, workerKilled);
      await Promise.race(sendAll(receiverKilled));
      await kill('receiver');
      // Deedwire sends it again until it is acknowledged.
      await expect.poll(() => sendOnce(receiverKilled)).toBeOneOf([200, 202]);
      const handling = untilHandling(processes.jobs.child, workerKilled);
      const answered = Promise.all(sendAll(workerKilled));
      await handling;
      await kill('jobs');
      await answered;
    }
    await eventually(async () => {
      const { rows } = await pool.query('select id from webhook_inbox_receipt where processed_at is null');
      const { rows: failed } = await pool.query(errors);
      expect({ rows, errors: rows.length === 0 ? [] : failed }).toEqual({ rows: [], errors: [] });
    }, 60_000);
    for (const { child } of Object.values(processes)) {
      child.disconnect();
      await once(child, 'exit');
    }
    expect(interrupted).toBeGreaterThan(0);
    const effects = 'select delivery_id as id, finished from effect where starts_with(delivery_id, $1)';
    const { rows } = await pool.query<{ id: string; finished: boolean }>(effects, [name]);
    expect(rows.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual(
      ids.toSorted((one, other) => one.localeCompare(other)).map((id) => ({ id, finished: true })),
    );
  },
);

/** Resolves when the handler of a delivery has made one of its two changes. */
async function untilHandling(child: ChildProcess, id: string): Promise<void> {
  for await (const [message] of on(child, 'message')) if (message.handling === id) return;
}

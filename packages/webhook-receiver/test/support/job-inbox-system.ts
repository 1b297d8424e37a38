import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { eventually } from '@deedwire/testing';
import { Pool } from 'pg';
import { expect } from 'vitest';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import { deliveryOf, secret, send } from './delivery.ts';
import type { JobLibrary } from './job-libraries.ts';

const repeats = 64;

interface Process {
  readonly child: ChildProcess;
  readonly url: string;
}

/** A receiver and a worker of its jobs, each a process that a test kills. */
export interface JobInboxSystem {
  /** The worker of the jobs. */
  readonly jobs: ChildProcess;
  /** Sends a delivery 64 times at once. Each resolves with its status, or null without a response. */
  readonly sendAll: (id: string) => readonly Promise<number | null>[];
  /** Kills a process and starts another one. */
  readonly kill: (role: 'jobs' | 'receiver') => Promise<void>;
  /** Sends a delivery again until it is acknowledged, as Deedwire does. */
  readonly acknowledge: (id: string) => Promise<void>;
  /** Waits until each delivery is processed. Resolves with the effects, and how many jobs killed workers had. */
  readonly finish: () => Promise<{ effects: unknown[]; interrupted: number }>;
}

export async function startJobInboxSystem(
  name: string,
  { errors, install, unlock }: JobLibrary,
): Promise<JobInboxSystem> {
  const database = await createTestDatabase({
    template: `webhook_receiver_kill_${name}`,
    async prepare(databaseUrl) {
      await install(databaseUrl);
      const prepared = new Pool({ connectionString: databaseUrl });
      await graphileWorkerInbox(prepared, { on: {} }).createTable();
      await prepared.query('create table effect (delivery_id text not null, finished boolean not null default false)');
      await prepared.end();
    },
  });
  const pool = new Pool({ connectionString: database.databaseUrl });
  const start = async (role: string): Promise<Process> => {
    const databaseUrl = new URL(database.databaseUrl);
    databaseUrl.searchParams.set('application_name', role);
    const child = fork(new URL('job-inbox-process.ts', import.meta.url), [databaseUrl.href, secret, name, role], {
      execArgv: ['--conditions=deedwire-source'],
    });
    const [{ port }] = await once(child, 'message');
    return { child, url: `http://127.0.0.1:${port}/` };
  };
  const processes = { receiver: await start('receiver'), jobs: await start('jobs') };
  const sendOnce = async (id: string): Promise<number> =>
    (await send(processes.receiver.url, deliveryOf({ id }))).status;
  let interrupted = 0;
  return {
    get jobs() {
      return processes.jobs.child;
    },
    sendAll: (id) => Array.from({ length: repeats }, () => sendOnce(id).catch(() => null)),
    async kill(role) {
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
    },
    acknowledge: (id) => expect.poll(() => sendOnce(id)).toBeOneOf([200, 202]),
    async finish() {
      await eventually(async () => {
        const { rows } = await pool.query('select id from webhook_inbox_receipt where processed_at is null');
        const { rows: failed } = await pool.query(errors);
        expect({ rows, errors: rows.length === 0 ? [] : failed }).toEqual({ rows: [], errors: [] });
      }, 60_000);
      const { rows } = await pool.query('select delivery_id as id, finished from effect');
      for (const { child } of Object.values(processes)) {
        child.disconnect();
        await once(child, 'exit');
      }
      await pool.end();
      await database.drop();
      return { effects: rows.toSorted((one, other) => one.id.localeCompare(other.id)), interrupted };
    },
  };
}

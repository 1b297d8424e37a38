import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@deedwire/embedded-postgres';
import { escapeIdentifier } from 'pg';
import { startLoad } from '../graphql/load.ts';
import { withCleanup } from '../with-cleanup.ts';
import type { Arrivals } from './arrivals.ts';
import type { Contestant, OurContestant, Scene } from './contestant.ts';
import { burstName, type Ledger } from './ledger.ts';

export interface Applied {
  arrivals: Arrivals;
  ledger: Ledger;
  /** How long the pressure lasts. */
  durationMs: number;
  quick: boolean;
}

/** What holds the database or the worker back. */
export interface Pressure<Tested extends Contestant = OurContestant> {
  title: string;
  /** Longer than the others. */
  durationMs?: number;
  /**
   * How often it ends requests or their results are lost, so that deliveries may be repeated: up to 16 of each endpoint, which is
   * what a worker has in flight.
   */
  interruptions: number;
  /** Resolves when the pressure has ended. */
  apply(scene: Scene<Tested>, applied: Applied): Promise<unknown>;
}

/** Does the work, and waits for the rest of the time. */
async function lasting(durationMs: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all([work(), sleep(durationMs)]);
}

const readers = 50;
const endedBackends = 50;
const kills = 3;
const limitMs = 30_000;

/** Those that hold back any contestant on PostgreSQL. */
export const sharedPressures = {
  snapshot: {
    title: 'a transaction idle with a snapshot',
    durationMs: 300_000,
    interruptions: 0,
    apply: ({ contestant }, { durationMs }) =>
      withClient(contestant.databaseUrl, async (client) => {
        await client.query('begin isolation level repeatable read');
        await client.query('select txid_current()');
        await sleep(durationMs);
        await client.query('rollback');
      }),
  },
  maximum: {
    title: 'as many events as are committed',
    interruptions: 0,
    async apply(_scene, { arrivals, durationMs }) {
      arrivals.setMaximum(true);
      await sleep(durationMs);
      arrivals.setMaximum(false);
    },
  },
} satisfies Record<string, Pressure<Contestant>>;

export const pressures = {
  ...sharedPressures,
  readers: {
    title: `${readers} readers of deliveries`,
    interruptions: 0,
    apply: ({ contestant }, { durationMs }) =>
      withCleanup(async (defer) =>
        contestant.readDeliveries(await startLoad(defer), { connections: readers, durationMs }),
      ),
  },
  burst: {
    title: 'a burst of 50,000 events of one account',
    interruptions: 0,
    apply({ contestant }, { ledger, durationMs, quick }) {
      const names = Array.from({ length: quick ? 500 : 50_000 }, (_, index) => burstName(index));
      return lasting(durationMs, () => ledger.enter(names, () => contestant.commitBurst(names)));
    },
  },
  restart: {
    title: 'a restart of PostgreSQL',
    interruptions: 1,
    apply: ({ postgres }, { durationMs }) => lasting(durationMs, () => postgres.restart()),
  },
  backends: {
    title: `${endedBackends} backends ended, one after another`,
    interruptions: endedBackends,
    apply: ({ contestant: { databaseUrl } }, { durationMs }) =>
      withClient(databaseUrl, async (client) => {
        for (let ended = 0; ended < endedBackends; ended += 1) {
          await client.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`,
          );
          await sleep(durationMs / endedBackends);
        }
      }),
  },
  connections: {
    title: 'one connection for the worker for 30 s',
    interruptions: 1,
    apply: ({ contestant: { databaseUrl, login } }, { durationMs }) =>
      withClient(databaseUrl, async (client) => {
        const role = escapeIdentifier(login);
        await lasting(durationMs, async () => {
          await client.query(`alter role ${role} connection limit 1`);
          await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [login]);
          await sleep(Math.min(limitMs, durationMs));
          await client.query(`alter role ${role} connection limit -1`);
        });
      }),
  },
  kills: {
    title: 'kill -9 of the worker, three times',
    interruptions: kills,
    async apply({ contestant }, { durationMs }) {
      for (let killed = 0; killed < kills; killed += 1)
        await lasting(durationMs / kills, () => contestant.restartWorker());
    },
  },
} satisfies Record<string, Pressure>;

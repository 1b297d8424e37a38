import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunningApp } from '@deedwire/dev-environment';
import { connect, type Connection } from '@deedwire/testing';
import type { DeliveryLog, ReceivedDelivery } from './delivery-log.ts';
import { attemptKey } from './judge.ts';

/** Records what was sent and not settled when a worker was interrupted. Only that may be sent again. */
export interface Interruptions {
  /** For each attempt, at how many interruptions it was sent and not settled. */
  unsettled: ReadonlyMap<string, number>;
  /** The sum over all interruptions. */
  allowedRepeats: number;
  /** Workers that were interrupted while they held their shards. */
  observedWorkers: ReadonlySet<string>;
  /**
   * Runs `interrupt`, which ends or suspends the worker. Until the unsettled deliveries are recorded, no other worker can take
   * over its shards: however long that takes, what is recorded is the state at the interruption.
   */
  during(worker: RunningApp, interrupt: () => Promise<unknown>): Promise<void>;
  /** Records what is unsettled now. */
  record(): Promise<void>;
  close(): Promise<void>;
}

// What the kernel has received from a process that has ended is read in the next turns of the event loop.
const turnsToRead = 20;

export function createInterruptions(databaseUrl: string, received: DeliveryLog): Interruptions {
  const unsettled = new Map<string, number>();
  const observedWorkers = new Set<string>();
  const opened = new Set<Promise<Connection>>();
  /** Attempts that were not settled when they were last looked at. */
  const open = new Map<string, ReceivedDelivery>();
  let looked = 0;

  async function record(connection: Connection): Promise<void> {
    for (let turn = 0; turn < turnsToRead; turn += 1) await nextTurn();
    for (; looked < received.deliveries.length; looked += 1) {
      const delivery = received.deliveries[looked];
      if (delivery !== undefined) open.set(attemptKey(delivery), delivery);
    }
    const keys = [...open.keys()];
    for (const key of await selectSettled(connection, [...open.values()])) open.delete(key);
    for (const key of keys.filter((each) => open.has(each))) {
      unsettled.set(key, (unsettled.get(key) ?? 0) + 1);
      interruptions.allowedRepeats += 1;
    }
  }

  async function withConnection(work: (connection: Connection) => Promise<void>): Promise<void> {
    const connecting = connect(databaseUrl);
    opened.add(connecting);
    try {
      await work(await connecting);
    } finally {
      opened.delete(connecting);
      await connecting.then((connection) => connection.close()).catch(() => {});
    }
  }

  const interruptions: Interruptions = {
    unsettled,
    allowedRepeats: 0,
    observedWorkers,
    record: () => withConnection(record),
    during: (worker, interrupt) =>
      withConnection(async (connection) => {
        await connection.run('begin');
        const workerId = await lockWorker(connection, worker.pid);
        if (workerId !== null) observedWorkers.add(workerId);
        await interrupt();
        await record(connection);
        await connection.run('commit');
      }),
    async close() {
      await Promise.all([...opened].map((connecting) => connecting.then((connection) => connection.close())));
    },
  };
  return interruptions;
}

/** Locks the row of a worker against a takeover, but not against renewals. Null if it was declared dead. */
async function lockWorker(connection: Connection, pid: number): Promise<string | null> {
  const rows = await connection.run(
    `select id from webhook_worker where name like '%/' || $1::text and alive for key share`,
    [String(pid)],
  );
  return typeof rows[0]?.['id'] === 'string' ? rows[0]['id'] : null;
}

/** Which of these attempts are recorded in the database. */
async function selectSettled(connection: Connection, attempts: readonly ReceivedDelivery[]): Promise<string[]> {
  const settled = await connection.run(
    `select a.delivery_id || ' ' || a.number as key
     from unnest($1::bigint[], $2::int[]) r (delivery_id, number)
     join webhook_attempt a using (delivery_id, number)`,
    [attempts.map(({ webhookId }) => webhookId.split('/').at(-1)), attempts.map(({ attempt }) => attempt)],
  );
  const keys = new Set(settled.map((row) => row['key']));
  return attempts.map(attemptKey).filter((key) => keys.has(key.slice(key.lastIndexOf('/') + 1)));
}

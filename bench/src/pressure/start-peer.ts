import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { machineMs, startChild } from '../child.ts';
import type { WritePeerName } from '../delivery/peer-names.ts';
import type { BenchPostgres } from '../postgres.ts';
import type { ProcessUsage } from '../rounds.ts';
import type { Defer } from '../with-cleanup.ts';
import type { Contestant } from './contestant.ts';

/** A queue of a peer, whose jobs are committed by this process. */
export async function startPeer(
  postgres: BenchPostgres,
  name: WritePeerName,
  endpoints: readonly string[],
  defer: Defer,
): Promise<Contestant> {
  const databaseUrl = await postgres.createDatabase(name);
  const worker = ['worker', name, databaseUrl, JSON.stringify(endpoints)];
  await startChild<string, ProcessUsage>(defer, './delivery/write/peer-process.ts', ...worker);
  // Tests of this bench import it where the peers are not installed.
  const { transactionalQueues } = await import('../delivery/peers/transactional.ts');
  const adder = await transactionalQueues[name].startAdding(databaseUrl);
  defer(() => adder.close());
  const pool = new Pool({ connectionString: databaseUrl, max: 32 });
  defer(() => pool.end());
  return {
    name,
    databaseUrl,
    async commit(receiver, event) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await adder.add(client, {
          webhookId: randomUUID(),
          receiver,
          body: JSON.stringify({ externalReference: event }),
        });
        await client.query('commit');
        return machineMs();
      } finally {
        client.release();
      }
    },
  };
}

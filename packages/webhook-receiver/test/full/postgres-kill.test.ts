import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { postgresStore } from '../../src/postgres.ts';
import { deliveryOf, secret, send } from '../support/delivery.ts';

const kills = 6;
/** The handler has finished by then on an idle machine. */
const latestKillMs = 80;

// `tools/contract-tests/test/full/receiver-kit.test.ts` kills a receiver at 20 random points.
test('makes the changes of a handler once if the process is killed at six points', async () => {
  const database = await createTestDatabase({
    template: 'webhook_receiver_kill',
    async prepare(databaseUrl) {
      const pool = new Pool({ connectionString: databaseUrl });
      await postgresStore(pool).createTable();
      await pool.query('create table effect (delivery_id text not null, finished boolean not null default false)');
      await pool.end();
    },
  });
  const start = async () => {
    const child = fork(new URL('../support/receiver-process.ts', import.meta.url), [database.databaseUrl, secret], {
      execArgv: ['--conditions=deedwire-source'],
    });
    const [{ port }] = await once(child, 'message');
    return { child, url: `http://127.0.0.1:${port}/` };
  };
  const interrupted: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    const id = `killed_${round}`;
    const { child, url } = await start();
    const exited = once(child, 'exit');
    const answer = send(url, deliveryOf({ id })).catch(() => null);
    await sleep((round / kills) * latestKillMs);
    child.kill('SIGKILL');
    await exited;
    // A delivery that was acknowledged is not sent again.
    if ((await answer)?.status !== 200) interrupted.push(id);
  }
  const { child, url } = await start();
  for (const id of interrupted) {
    const status = async (): Promise<number> => (await send(url, deliveryOf({ id }))).status;
    // The server ends the transaction of a killed process when it notices the closed connection.
    await expect.poll(status).toBe(200);
  }
  child.disconnect();
  const pool = new Pool({ connectionString: database.databaseUrl });
  const { rows } = await pool.query('select delivery_id as id, finished from effect');
  await pool.end();
  await database.drop();
  process.stdout.write(`${interrupted.length} of ${kills} deliveries were not acknowledged\n`);
  expect(interrupted.length).toBeGreaterThan(0);
  expect(rows.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(
    Array.from({ length: kills }, (_, round) => ({ id: `killed_${round}`, finished: true })).toSorted((a, b) =>
      a.id.localeCompare(b.id),
    ),
  );
});

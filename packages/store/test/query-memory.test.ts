import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, type Database } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';

setFlagsFromString('--expose-gc');
const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc');

const database = await forFile(createServiceDatabase());
const store = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));

// About 60 kB of rows.
const rows = { name: 'rows', text: `select n, repeat('x', 400) as text from generate_series(1, 100) as n` };

test.each<[string, (work: (target: Database) => Promise<unknown>) => Promise<unknown>]>([
  ['outside of a transaction', (work) => work(store)],
  ['in a transaction', (work) => store.transaction(work)],
])('a finished query %s does not keep its rows until a full garbage collection', async (_, run) => {
  const queryMany = async (): Promise<void> => {
    for (let round = 0; round < 30; round += 1) {
      for (let query = 0; query < 20; query += 1) {
        await run((target) => target.query(rows, []));
      }
      collect({ type: 'minor' });
    }
  };
  await queryMany();
  collect({ type: 'major' });
  const before = process.memoryUsage().heapUsed;
  await queryMany();
  // The query reads 36 MB of rows. With the promises of pg, it kept 30 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
});

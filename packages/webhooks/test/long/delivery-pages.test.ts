import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measurePages } from '../support/delivery-page-costs.ts';
import { fillHistory, type History } from '../support/history.ts';
import { createMigratedDatabase } from '../support/seed.ts';

let database: TestDatabase;
let superuser: Connection;
let history: History;

beforeAll(async () => {
  database = await createMigratedDatabase();
  superuser = await connect(database.databaseUrl);
  history = await fillHistory(superuser, { finished: 5_000_000, pending: 1_000_000 });
});

afterAll(async () => {
  await superuser.close();
  await database.drop();
});

test.each(['before', 'after'])(
  'reads at most 500 pages and locks at most 64 relations with each statement, %s statistics exist',
  async (when) => {
    if (when === 'after') await superuser.run('vacuum (analyze)');
    const measured = await measurePages(database, history);
    for (const { list, rows, statements, buffers, costliest, locks } of measured) {
      process.stdout.write(
        `${list}: ${rows} rows, ${statements} statements of at most ${buffers} buffers (${costliest}) and ${locks} locks\n`,
      );
    }
    expect(measured.filter(({ buffers, locks }) => buffers > 500 || locks > 64)).toEqual([]);
  },
);

import type { TestDatabase } from '@deedwire/embedded-postgres';
import { connect, type Connection } from '@deedwire/testing';
import { fillHistory, type History, type HistorySize, createMigratedDatabase } from '@deedwire/webhooks/test-support';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measurePages, type PageCost } from './delivery-page-costs.ts';

/** Registers the tests of the pages of deliveries with a history of this size. `report` is called with what each measured. */
export function testDeliveryPages(size: HistorySize, report: (measured: readonly PageCost[]) => void = () => {}): void {
  let database: TestDatabase;
  let superuser: Connection;
  let history: History;

  beforeAll(async () => {
    database = await createMigratedDatabase();
    superuser = await connect(database.databaseUrl);
    history = await fillHistory(superuser, size);
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
      report(measured);
      // Before version 17, PostgreSQL searches an index from its root for each element of an array.
      const most = (await majorOf(superuser)) < 17 ? 600 : 500;
      expect(measured.filter(({ buffers, locks }) => buffers > most || locks > 64)).toEqual([]);
    },
  );
}

async function majorOf(connection: Connection): Promise<number> {
  const [row] = await connection.run(`select current_setting('server_version_num')::int / 10000 as major`);
  return Number(row?.['major']);
}

import { connect, type Connection } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { fillHistory, createServiceDatabase } from '@deedwire/webhooks/test-support';
import { expect, test } from 'vitest';
import { measurePages } from '../webhooks/support/delivery-page-costs.ts';

/** `DELIVERIES=6000000` is a longer run. */
const count = Number(process.env['DELIVERIES'] ?? 100_000);

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const history = await fillHistory(superuser, { finished: count * 0.8, pending: count * 0.2 });

test.each(['before', 'after'])(
  'reads at most 500 pages and locks at most 64 relations with each statement, %s statistics exist',
  async (when) => {
    if (when === 'after') await superuser.run('vacuum (analyze)');
    const measured = await measurePages(database, history);
    // Before version 17, PostgreSQL searches an index from its root for each element of an array.
    const most = (await majorOf(superuser)) < 17 ? 600 : 500;
    expect(measured.filter(({ buffers, locks }) => buffers > most || locks > 64)).toEqual([]);
    // A filter by status loads the deliveries that can have it, one by one, as does one by subscription if the record has many.
    const ofRecords = measured.filter(({ list }) =>
      /^a record(?: without deliveries)?, any status|^a record with many deliveries, any status, /.test(list),
    );
    expect(ofRecords.filter(({ buffersOfPage }) => buffersOfPage > most)).toEqual([]);
    expect(ofRecords).toHaveLength(14);
    // Of the deliveries of its record, the page reads 200.
    const ofEvent = measured.find(({ list }) => list === 'an event about a record, any status');
    expect(ofEvent?.buffersOfPage).toBeLessThan(most);
    // Each polls 200 deliveries that are due.
    const polls = measured.filter(({ list }) => list.startsWith('a poll of the attempts'));
    expect(polls.map(({ statements }) => statements <= 12)).toEqual([true, true]);
  },
);

async function majorOf(connection: Connection): Promise<number> {
  const [row] = await connection.run(`select current_setting('server_version_num')::int / 10000 as major`);
  return Number(row?.['major']);
}

import { randomUUID } from 'node:crypto';
import { connect } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { append, createAccount, NotInTransactionError, wake } from '../src/index.ts';
import { drivers } from './support/drivers.ts';
import { createShopDatabase, orderPaid, snapshotOf } from './support/shop.ts';

const database = await forFile(createShopDatabase());
const owner = await forFile(connect(database.databaseUrl));

/** The ids of the orders of the events that are queued. */
const queued = async (): Promise<unknown[]> =>
  (
    await owner.run(`
      select e.snapshot #>> '{order,id}' as "order"
      from deedwire.webhook_event e join deedwire.webhook_event_queue q on q.event_id = e.id
      order by q.position`)
  ).map((row) => row['order']);

describe.each(drivers)('with %s', (_, open) => {
  test('an event is committed with the transaction, and gone with what is rolled back', async () => {
    const driver = await forTest(open(database.databaseUrl));
    const [committed, after, undone, failed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const before = await queued();
    let eventId = '';
    await driver.transaction(async (session, inSavepoint) => {
      eventId = await append(session, orderPaid, 'c-1', snapshotOf(committed));
      await inSavepoint(async (nested) => void (await append(nested, orderPaid, 'c-1', snapshotOf(undone))));
      await append(session, orderPaid, 'c-1', snapshotOf(after));
      expect(await queued()).toEqual(before);
    });
    const refused = driver.transaction(async (session) => {
      await append(session, orderPaid, 'c-1', snapshotOf(failed));
      throw new Error('undone');
    });
    await expect(refused).rejects.toThrow('undone');
    expect(await queued()).toEqual([...before, committed, after]);
    expect(
      await owner.run(
        'select snapshot, record_id = deedwire.record_hash($2) as "isOfRecord" from deedwire.webhook_event where id = $1',
        [eventId, committed],
      ),
    ).toEqual([{ snapshot: snapshotOf(committed), isOfRecord: true }]);
  });

  test('refuses what is not a transaction, names the right line, and appends nothing', async () => {
    const driver = await forTest(open(database.databaseUrl));
    const before = await queued();
    for (const session of driver.outside) {
      const alone = append(session, orderPaid, 'c-1', snapshotOf(randomUUID()));
      await expect(alone).rejects.toThrow(NotInTransactionError);
      await expect(alone).rejects.toThrow(/Pass the transaction: await .*append\(from\w+\(/);
      await expect(createAccount(session, { interface: 'customer', externalId: 'c-2', name: 'Bo' })).rejects.toThrow(
        NotInTransactionError,
      );
    }
    expect(await queued()).toEqual(before);
  });

  test('creates an account in the transaction, again without a change, and wakes its worker after it', async () => {
    const driver = await forTest(open(database.databaseUrl));
    const account = { interface: 'customer', externalId: `c-${randomUUID()}`, name: `O'Neil "1" $1 ?` };
    const ids: string[] = [];
    for (let index = 0; index < 2; index += 1)
      await driver.transaction(async (session) => void ids.push(await createAccount(session, account)));
    expect(ids).toEqual([expect.stringMatching(/^gid:\/\/shop\/Customer\/\d+$/), ids[0]]);
    expect(await owner.run('select name from deedwire.account where external_id = $1', [account.externalId])).toEqual([
      { name: account.name },
    ]);
    for (const session of driver.outside) await wake(session, account.externalId);
    for (const session of driver.outside) await expect(wake(session, 'nobody')).rejects.toThrow(/nobody|Failed query/);
  });
});

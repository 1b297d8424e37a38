import { deleteWebhookSubscription } from '@deedwire/actions';
import { callOperator, type Harness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';

async function erase(harness: Harness, record: string) {
  const DATABASE_URL = await harness.database.urlFor('operator');
  const env = { DATABASE_URL, DATABASE_DIRECT_URL: harness.database.databaseUrl, OPERATOR_NAME: 'ada' };
  return callOperator(env, 'person', 'erase', '--record', record, '--yes');
}

describe('a publication', () => {
  test('stops no delivery, no removal and no erasure', async ({ harness, receiver }) => {
    await harness.sql('create publication everything for all tables');
    await harness.startWorker();
    const { id } = await harness.subscribe(receiver.url, ['order.placed']);
    const [order = ''] = await harness.place(1);
    await receiver.waitFor(1);
    await eventually(async () => {
      expect(await harness.sql('select from webhook_exchange')).toHaveLength(1);
      expect(await harness.sql('select from webhook_event_queue')).toEqual([]);
    });

    expect(await erase(harness, order)).toMatchObject({ exitCode: 0 });
    expect(await harness.sql('select from webhook_exchange')).toEqual([]);
    expect(await harness.sql('select from person_erasure')).toEqual([]);

    await deleteWebhookSubscription(harness.customerApi, harness.accounts.customer, { id });
    await eventually(async () => expect(await harness.sql('select from webhook_deleted_backlog')).toEqual([]));
    expect(await harness.metrics()).not.toContain('deedwire_alarms_total{');
  });

  test('that cannot name the rows of a table raises an alarm and is named, and webhooks arrive once it is changed', async ({
    harness,
    receiver,
  }) => {
    await harness.startWorker();
    await harness.subscribe(receiver.url, ['order.placed']);
    const [first = ''] = await harness.place(1);
    await receiver.waitFor(1);
    await eventually(async () => expect(await harness.sql('select from webhook_exchange')).toHaveLength(1));
    // As those of earlier releases.
    await harness.sql('alter table webhook_event_queue replica identity nothing');
    const partitions = await harness.sql(
      `select relid::text as name from pg_partition_tree('webhook_exchange') where isleaf`,
    );
    for (const { name } of partitions) await harness.sql(`alter table ${String(name)} replica identity default`);
    await harness.sql('create publication everything for all tables');

    await harness.place(1);
    const alarm = 'deedwire_alarms_total{alarm="publication-refuses"';
    await eventually(async () => expect(await harness.metrics()).toContain(alarm));
    const erased = await erase(harness, first);
    expect(erased).toMatchObject({ exitCode: 1 });
    expect(erased.stderr).toMatch(
      /^error: The erasure is not finished\. Repair the cause\. Then run the command again\. \(A publication keeps PostgreSQL from changing rows\. Run `deedwire-operator database check`, which names it and the remedy\. \(cannot delete from table "webhook_\w+" because /,
    );
    const check = await callOperator({ DATABASE_URL: await harness.database.urlFor('operator') }, 'database', 'check');
    expect(check.stderr).toMatch(
      /warning: the publication everything keeps PostgreSQL from updating and deleting rows of .*webhook_event_queue.*webhook_exchange_/,
    );

    await harness.sql(`alter publication everything set (publish = 'insert')`);
    await receiver.waitFor(2);
    expect(await erase(harness, first)).toMatchObject({ exitCode: 0 });
  });
});

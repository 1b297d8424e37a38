import { createHarness } from '@deedwire/dev-environment/harness';
import { eventually } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());

test('the worker deletes idempotency keys after 24 hours, and drops old partitions of the audit log', async () => {
  await harness.sql(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, created_at)
     select $1, 'partner', 'm', hours::text, '', gen_random_uuid(), now(), now() - make_interval(hours => hours)
     from unnest(array[23, 25]) hours`,
    [harness.accounts.partner.accountId],
  );
  await harness.sql(
    `create table audit_entry_2020_01 partition of audit_entry for values from ('2020-01-01Z') to ('2020-02-01Z')`,
  );
  await harness.startWorker();
  await eventually(async () => {
    expect(await harness.sql('select key from idempotency_key')).toEqual([{ key: '23' }]);
    expect(await harness.sql(`select to_regclass('audit_entry_2020_01') as partition`)).toEqual([{ partition: null }]);
  });
});

import { issueCredential } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { testService } from '@deedwire/core/test-service';
import { createHarness } from '@deedwire/dev-environment/harness';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, onTestFinished, test } from 'vitest';

const harness = await forFile(createHarness());

test('the worker deletes idempotency keys after 24 hours, and drops old partitions of the audit log', async () => {
  await harness.sql(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until, created_at)
     select $1, 'customer', 'm', hours::text, '', gen_random_uuid(), now(), now() - make_interval(hours => hours)
     from unnest(array[23, 25]) hours`,
    [harness.accounts.customer.accountId],
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

test('the worker reports a key that will expire, and deletes one that ended 90 days ago', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  await harness.subscribe(receiver.url, ['api_key.expiring']);
  const issue = async (): Promise<string> => {
    const input = { accountId: harness.accounts.customer.id, clientId: null, name: 'CRM' };
    return parseApiKey(testService, (await issueCredential(harness.operator, input)).apiKey)?.keyId ?? missing();
  };
  const [expiring, ended] = [await issue(), await issue()];
  await harness.sql(
    `update api_key set created_at = now() - interval '100 days',
       expires_at = now() + case key_id when $1 then interval '6 days' else interval '-91 days' end
     where key_id in ($1, $2)`,
    [expiring, ended],
  );
  await harness.startWorker();
  const [delivery] = await receiver.waitFor(1);
  expect(JSON.parse(String(delivery?.body))).toMatchObject({
    type: 'api_key.expiring',
    data: { apiKey: { id: expiring, name: 'CRM', expiresAt: expect.stringMatching(/Z$/) } },
  });
  await eventually(async () =>
    expect(await harness.sql('select key_id from api_key where key_id in ($1, $2)', [expiring, ended])).toEqual([
      { key_id: expiring },
    ]),
  );
});

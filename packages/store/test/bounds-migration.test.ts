import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations, migrate, readMigrations } from '../src/index.ts';

// Before 0028, only the interfaces of the law firm exist, which the migrations create.
test('an account and a subscription above the limits keep what they have, lose what they give up, and get nothing more', async () => {
  const own = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const migrations = await readMigrations();
  await applyMigrations(
    own.databaseUrl,
    migrations.filter(({ name }) => name < '0028'),
    {},
  );
  const owner = await connect(own.databaseUrl);
  onTestFinished(async () => {
    await owner.close();
    await own.drop();
  });
  await owner.run(`
    insert into organization (id, name) values (1, 'Harbour');
    insert into account (id, interface, organization_id, name) values (2, 'partner', 1, 'Harbour');
    insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
      select g, 2, 'partner', '', '', 0 from generate_series(1, 21) g;
    insert into webhook_subscription_event_type select 1, 'partner', g::text, 'x' from generate_series(1, 102) g`);
  await migrate(own.databaseUrl, testService);

  const api = await connect(await own.urlFor('partner_api'));
  onTestFinished(() => api.close());
  const subscribe = () =>
    api.run(
      `insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
       values (2, 'partner', '', '', 0)`,
    );
  const addTypes = (first: number, last: number) =>
    api.run(
      `insert into webhook_subscription_event_type select 1, 'partner', g::text, 'x' from generate_series($1::int, $2) g`,
      [first, last],
    );
  const remove = (id: number) => api.run(`update webhook_subscription set deleted_at = now() where id = $1`, [id]);
  await api.run(`update webhook_subscription set paused_reason = 'OWNER', paused_at = now(), owner_paused_at = now()`);
  await expect(subscribe()).rejects.toThrow('The account 2 may have 20 subscriptions.');
  await remove(20);
  await expect(subscribe()).rejects.toThrow('The account 2 may have 20 subscriptions.');
  await remove(21);
  await subscribe();
  await api.run(`delete from webhook_subscription_event_type where event_type = '1'`);
  await expect(addTypes(200, 200)).rejects.toThrow('The subscription 1 may have 100 event types.');
  // As the API replaces them.
  await api.run('begin; delete from webhook_subscription_event_type');
  await addTypes(1, 100);
  await api.run('commit');
});

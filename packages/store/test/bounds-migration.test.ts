import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations, migrate, readMigrations } from '../src/index.ts';

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
  await migrate(own.databaseUrl);

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

test('rows out of bounds stop the migration, which names one after the other and says how to mend it', async () => {
  const own = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const migrations = await readMigrations();
  const before = migrations.filter(({ name }) => name < '0028');
  await applyMigrations(own.databaseUrl, before, {});
  const owner = await connect(own.databaseUrl);
  onTestFinished(async () => {
    await owner.close();
    await own.drop();
  });
  await owner.run(`
    insert into organization (id, name) values (1, 'Harbour');
    insert into account (id, interface, organization_id, name) values (2, 'partner', 1, repeat('a', 201));
    insert into referral (id, account_id, client_name, note) values (3, 2, 'First', repeat('a', 5000)), (4, 2, 'Second', repeat('a', 5001));
    insert into api_client (id, account_id, interface, client_id, schema_version) values (5, 2, 'partner', 'portal', '2026-11-01');
    insert into api_key (key_id, api_client_id, interface, key_hash, last_used_at)
      values ('k1', 5, 'partner', sha256('one'), 'infinity'), ('k2', 5, 'partner', sha256('two'), null);
    insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
      values (2, 'partner', 'createReferral', repeat('k', 65), '', gen_random_uuid(), now());
    insert into webhook_subscription (id, account_id, interface, callback_url, secret_ciphertext, queue_position)
      values (6, 2, 'partner', 'https://a.test/' || repeat('a', 2034), decode(repeat('00', 156), 'hex'), 0);
    insert into webhook_subscription_event_type values (6, 'partner', repeat('t', 101), '2026-11-01'), (6, 'partner', 'a', '2026-11-01');
    insert into webhook_replay (id, account_id, interface, subscription_id, event_types, only_failed, per_second, from_id, until_id, last_id)
      values (7, 2, 'partner', 6, array_fill('a'::text, array[101]), true, 1, 0, 1, 0);
    insert into webhook_event_queue (account_id, interface, event_id, position) values (2, 'partner', 0, 8), (2, 'partner', 1, 9)`);

  const messages: string[] = [];
  const statements: string[] = [];
  const refused = () => migrate(own.databaseUrl).then(() => null, String);
  for (let message = await refused(); message !== null; message = await refused()) {
    messages.push(message);
    const [statement = ''] = /(?<=migrate again: ).+/.exec(message) ?? [];
    expect(statements).not.toContain(statement);
    statements.push(statement);
    await owner.run(statement);
  }
  expect(messages[0]).toContain(
    "A row of account with id = '2' violates account_name_bounds: (char_length(name) <= 200). No row was changed. " +
      'Look at it, mend it, and migrate again: update account set name = left(name, 200) ' +
      "where id = '2' and not (char_length(name) <= 200);",
  );
  expect(statements.map((statement) => statement.slice(0, statement.indexOf(' and not ')))).toEqual([
    `update account set name = left(name, 200) where id = '2'`,
    `update api_key set last_used_at = least(greatest(last_used_at, '1970-01-01Z'), '9999-12-31Z') where key_id = 'k1'`,
    `delete from idempotency_key where account_id = '2' and mutation = 'createReferral'`,
    `update referral set note = left(note, 5000) where id = '4'`,
    `delete from webhook_event_queue where shard = '2' and "position" = '8'`,
    `delete from webhook_replay where id = '7'`,
    `update webhook_subscription set callback_url = left(callback_url, 2048), paused_reason = 'GONE', paused_at = now(), secret_ciphertext = '' where id = '6'`,
    `delete from webhook_subscription_event_type where subscription_id = '6'`,
  ]);
  // What is within the bounds stays.
  expect(
    await owner.run(`
      select (select array_agg(length(note) order by id) from referral) as notes,
        (select count(*)::int from api_key where last_used_at is null) as keys,
        (select array_agg(event_type) from webhook_subscription_event_type) as types,
        (select array_agg(event_id) from webhook_event_queue) as events`),
  ).toEqual([{ notes: [5000, 5000], keys: 1, types: ['a'], events: ['1'] }]);
});

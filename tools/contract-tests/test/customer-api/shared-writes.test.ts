import { once } from 'node:events';
import { request } from 'node:http';
import { createHarness, raiseLimit } from '@deedwire/dev-environment/harness';
import { connect, credentialHeaders, postGraphql, untilBlocked } from '@deedwire/testing';
import { forFile, forTest } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';

const harness = await forFile(createHarness());
const service = await harness.startApi('customer');
await service.whenReady;
await raiseLimit(harness.operator, harness.accounts.customer.credential.clientId);
beforeEach(() => harness.sql('delete from customer_order'));

function order(name: string, key: string | null = null): string {
  const ofKey = key === null ? '' : `, idempotencyKey: "${key}"`;
  return `placeOrder(input: { item: "${name}"${ofKey} }) { order { id item } userErrors { code } }`;
}

const created = (item: string) => ({ order: { id: expect.any(String), item }, userErrors: [] });
const refused = (code: string) => ({ order: null, userErrors: [{ code }] });
const numbered = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

async function mutate(fields: string) {
  const query = `mutation { ${fields} }`;
  const { status, body } = await postGraphql(`${service.url}/customer/graphql`, harness.accounts.customer.credential, {
    query,
  });
  return { status, data: body.data };
}

/** The names of the orders, and how many of these have an event in the queue and an entry in the audit log. */
async function stored(): Promise<{ names: unknown[]; events: unknown; audited: unknown }> {
  const rows = await harness.sql('select id::text, item from customer_order order by item');
  const gids = rows.map(({ id }) => `gid://service/Order/${String(id)}`);
  const [count] = await harness.sql(
    `select (select count(distinct subject)::int from audit_entry where subject = any ($1)) as audited,
       (select count(distinct q.event_id)::int from webhook_event e join webhook_event_queue q on q.event_id = e.id
        where e.snapshot::text like any (select '%' || gid || '"%' from unnest($1::text[]) gid)) as events`,
    [gids],
  );
  return { names: rows.map((row) => row['item']), events: count?.['events'], audited: count?.['audited'] };
}

const storedOnce = (names: readonly string[]) => ({
  names: names.toSorted(),
  events: names.length,
  audited: names.length,
});

test('a document with 30 mutations is refused, and writes nothing', async () => {
  const fields = numbered(30, 'Alias').map((name, index) => `a${index}: ${order(name)}`);
  expect(await mutate(fields.join(' '))).toEqual({ status: 200, data: undefined });
  expect(await stored()).toEqual(storedOnce([]));
});

test('199 connections of a client are answered, each by its own order', async () => {
  // The test before can have left one, and a client has 200.
  const names = numbered(199, 'Connection');
  const url = `${service.url}/customer/graphql`;
  const headers = { ...credentialHeaders(harness.accounts.customer.credential), 'Content-Type': 'application/json' };
  const send = async (name: string): Promise<unknown> => {
    const sent = request(url, { method: 'POST', headers, agent: false });
    sent.end(JSON.stringify({ query: `mutation { ${order(name)} }` }));
    const [response] = await once(sent, 'response');
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part);
    return JSON.parse(Buffer.concat(parts).toString());
  };
  const answers = await Promise.all(names.map(send));
  expect(answers).toMatchObject(names.map((name) => ({ data: { placeOrder: created(name) } })));
  expect(await stored()).toEqual(storedOnce(names));
});

test('mutations that wait behind DETACH of a partition are committed after it', async () => {
  await harness.sql(
    `create table audit_entry_2020_01 partition of audit_entry for values from ('2020-01-01Z') to ('2020-02-01Z')`,
  );
  const open = async () => {
    const connection = await forTest(connect(harness.database.databaseUrl));
    return connection;
  };
  const [reader, owner, observer] = [await open(), await open(), await open()];
  await reader.run('begin; select from audit_entry limit 1');
  const detached = owner.run('alter table audit_entry detach partition audit_entry_2020_01');
  await untilBlocked(observer);
  const names = numbered(20, 'Detach');
  const results = Promise.all(names.map((name) => mutate(order(name))));
  await untilBlocked(observer, 2);
  await reader.run('commit');
  await detached;
  expect((await results).map(({ data }) => data)).toEqual(names.map((name) => ({ placeOrder: created(name) })));
  expect(await stored()).toEqual(storedOnce(names));
});

test('the login of the app, used directly, takes nothing from the mutations of others', async () => {
  const login = await forTest(connect(await harness.database.urlFor('customer_api')));
  const { accountId } = harness.accounts.customer;
  for (const statement of [
    'select from account for update',
    'update customer_order set item = item',
    'delete from customer_order',
    'begin; lock table customer_order in share mode',
    'begin; lock table audit_entry in share mode',
    'alter sequence record_number restart',
    `select setval('record_number', 1)`,
  ]) {
    await expect(login.run(statement)).rejects.toThrow(/permission denied|must be owner/);
    await login.run('rollback');
  }

  // A key that it holds, and a row that it has not committed, delay only the request with this key.
  await login.run('begin');
  await login.run(
    `insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
     values ($1, 'customer', 'placeOrder', 'held', '\\x00', gen_random_uuid(), now())`,
    [accountId],
  );
  await login.run(`insert into customer_order (account_id, item) values ($1, 'Uncommitted')`, [accountId]);
  const [held, other, without] = await Promise.all([
    mutate(order('Held', 'held')),
    mutate(order('Other', 'other')),
    mutate(order('Without')),
  ]);
  await login.run('rollback');
  expect(held).toEqual({ status: 200, data: { placeOrder: refused('IDEMPOTENCY_IN_PROGRESS') } });
  expect(other.data).toEqual({ placeOrder: created('Other') });
  expect(without.data).toEqual({ placeOrder: created('Without') });
  expect((await mutate(order('Held', 'held'))).data).toEqual({ placeOrder: created('Held') });
  expect(await stored()).toEqual(storedOnce(['Held', 'Other', 'Without']));
});

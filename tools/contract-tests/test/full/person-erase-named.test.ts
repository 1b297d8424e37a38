import { callOperatorWith } from '@deedwire/dev-environment/harness';
import { connect, eventually, missing } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';
import { accepted, findIn, numberOf, person, startErasing } from '../support/erasing.ts';

const { t, customer, otherCustomer, env, dump, broken, subscribe, erase, erasable, place, plant, remove } =
  await startErasing();
const one = { item: 'Tea', buyerEmail: 'grace@buyer.example' };

test('details of attempts are erased after the events of a removed order were dropped', async () => {
  await subscribe(broken);
  const orderId = await plant(customer, false);
  const number = numberOf(orderId);
  await remove(orderId);
  await eventually(async () =>
    expect(
      await t.sql(
        `select from webhook_exchange e join webhook_delivery d on d.id = e.delivery_id
         where d.record_id = $1 and e.body is not null`,
        [number],
      ),
    ).not.toEqual([]),
  );
  // A week later.
  for (const table of ['webhook_pending_delivery', 'webhook_payload', 'webhook_event'])
    await t.sql(
      `delete from ${table} where ${table === 'webhook_event' ? 'id' : 'event_id'} in (select event_id from webhook_delivery where record_id = $1)`,
      [number],
    );
  await t.sql(`analyze webhook_exchange_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`);
  expect(await erase('--record', number, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
});

test('an account that is frozen or left is named, and nothing is changed', async () => {
  const orderId = await plant();
  await eventually(async () => expect(await t.sql('select from webhook_event_queue')).toEqual([]));
  const before = await erasable();
  await t.sql('insert into account_home values ($1, 0, next_freeze())', [customer.accountId]);
  for (const leaves of [false, true]) {
    if (leaves) await t.sql('update account_home set cell = 7, frozen_at = null');
    const away = await erase('--record', orderId, '--yes');
    expect(away).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('frozen, or at home in another cell') });
    expect(await erasable()).toEqual(before);
  }
  await t.sql('delete from account_home');
  expect(await erase('--record', orderId, '--yes')).toMatchObject(accepted);
  expect(findIn(await dump())).toEqual([]);
});

test('says that it is not finished if the account is frozen meanwhile, and goes on in the next run', async () => {
  await subscribe(broken);
  const [orderId, other] = [await plant(), await plant(otherCustomer)];
  await eventually(async () => expect(await t.sql('select from webhook_pending_delivery')).not.toEqual([]));
  // Before, the worker of a frozen account would not read the subscription again, for which the command waits too.
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const onWrite = (text: string) => text.includes('Waiting for requests in flight') && resolve();
  const erasing = callOperatorWith({ env, columns: 80, onWrite }, 'person', 'erase', '--record', orderId, '--yes');
  await waits;
  await t.sql('insert into account_home values ($1, 0, next_freeze())', [customer.accountId]);
  const { exitCode, stderr } = await erasing;
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: The erasure is not finished\. Run .* \(The account \d+ is frozen/),
  });
  expect(stderr).not.toContain('Nothing was changed');
  // Accounts elsewhere do not prevent the erasure of others.
  expect(await erase('--record', other, '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from person_erasure')).toHaveLength(1);
  await t.sql('delete from account_home');
  const { stdout } = await erase('--email', 'nobody@client.example', '--dry-run');
  expect(stdout).toMatch(/^unfinished erasure +account\n.*\n\nNothing else is kept\n$/);
  expect(stdout).toContain(orderId);
  const terminal = { env, columns: 40 };
  expect(await callOperatorWith(terminal, 'person', 'erase', '--record', orderId, '--yes')).toEqual({
    ...accepted,
    stdout: expect.stringContaining('\r\u001B[KWaiting for requests in flight\r\u001B[K'),
  });
  expect(findIn(await dump())).toEqual([]);
});

test('says that it is not finished if the account is frozen when only the first record has begun', async () => {
  const { buyerEmail } = one;
  for (const key of ['first', buyerEmail]) await place(key, one);
  const blocker = await forTest(connect(t.database.databaseUrl));
  // The second one waits for it before it looks whether the account is at home.
  await blocker.run(`begin; select from idempotency_key where key = '${buyerEmail}' for update`);
  const erasing = erase('--email', buyerEmail, '--yes');
  await eventually(async () => expect(await t.sql('select from person_erasure')).toHaveLength(1));
  await t.sql('insert into account_home values ($1, 0, next_freeze())', [customer.accountId]);
  await blocker.run('commit');
  expect(await erasing).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: The erasure is not finished\. Run .* \(The account \d+ is frozen/),
  });
  await t.sql('delete from account_home');
  expect(await erase('--email', buyerEmail, '--yes')).toMatchObject(accepted);
});

test('an address is read from standard input, and its domain can be in ASCII', async () => {
  await plant();
  const ascii = 'ördög.žluťoučký@xn--plnted-jua.example';
  const given = await callOperatorWith(
    { env, input: Buffer.from(`${ascii}\n`) },
    'person',
    'erase',
    '--email',
    '-',
    '--dry-run',
  );
  expect(given).toMatchObject({ ...accepted, stdout: expect.stringContaining('customer_order') });
  const none = await callOperatorWith({ env, input: Buffer.from('ada') }, 'person', 'erase', '--email', '-', '--yes');
  expect(none).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('standard input is not an email address'),
  });
  const crlf = { env, input: Buffer.from(`\ufeff${ascii}\r\n`) };
  expect(await callOperatorWith(crlf, 'person', 'erase', '--email', '-', '--dry-run')).toMatchObject({
    ...accepted,
    stdout: expect.stringContaining('customer_order'),
  });
  expect(await erase('--email', person.buyerEmail, '--yes')).toMatchObject(accepted);
});

test.each([
  ['nothing', '', 2],
  ['two lines', 'ada@buyer.example\nbob@buyer.example', 2],
  ['NUL', 'ada@buyer.example\0', 2],
  ['Latin-1', Buffer.from('ördög@buyer.example', 'latin1'), 2],
  ['UTF-16', Buffer.from('\ufeffada@buyer.example', 'utf16le'), 2],
  ['255 characters', `${'a'.repeat(241)}@buyer.example`, 2],
  ['1,001 bytes', 'a'.repeat(1_001), 1],
])('standard input that is %s is refused', async (_, input, exitCode) => {
  const surroundings = { env, input: Buffer.from(input) };
  const result = await callOperatorWith(surroundings, 'person', 'erase', '--email', '-', '--yes');
  expect(result).toEqual({
    exitCode,
    stdout: '',
    stderr: expect.stringMatching(/standard input is (?:not an email address|larger than)/i),
  });
});

test('samples that the planner keeps of a table are erased if it becomes empty', async () => {
  await t.sql('delete from idempotency_key');
  for (const number of [1, 2]) await place(`${number} ${person.buyerEmail}`);
  await t.sql('analyze idempotency_key');
  expect(await t.sql(`select from pg_stats where tablename = 'idempotency_key' and attname = 'key'`)).toHaveLength(1);
  expect(await erase('--email', person.buyerEmail, '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from idempotency_key')).toEqual([]);
  expect(findIn(await dump())).toEqual([]);
});

test('more deliveries than one statement takes are counted, read again and erased in parts', async () => {
  const orderId = await plant();
  const number = numberOf(orderId);
  const subscriptionId = numberOf(await subscribe(broken, ['api_key.created']));
  await t.sql(
    `with delivery as (
       insert into webhook_delivery (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at,
         sequence, record_id)
       select e.account_id, $2, e.interface, e.id, e.event_type, '2026-11-01', now(), n, e.record_id
       from webhook_event e, generate_series(1, 1100) n
       where e.record_id = $1
       returning *
     )
     insert into webhook_pending_delivery (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version,
       occurred_at, sequence, due_at, body_bytes)
     select subscription_id, id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
       now() + interval '1 day', 1
     from delivery`,
    [number, subscriptionId],
  );
  const { stdout } = await erase('--record', orderId, '--yes', '--json');
  const { tables }: { tables: { table: string; rows: number }[] } = JSON.parse(stdout);
  expect(tables.find(({ table }) => table === 'webhook_pending_delivery')?.rows).toBeGreaterThanOrEqual(1_100);
  expect(await t.sql('select from webhook_pending_delivery where subscription_id = $1', [subscriptionId])).toEqual([]);
  expect(await t.sql('select from webhook_delivery where record_id = $1 and erased_at is null', [number])).toEqual([]);
});

test('goes on if the partition is dropped that it reads', async () => {
  const orderId = await plant();
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  await t.sql(`alter table webhook_exchange detach partition webhook_exchange_${day}`);
  const worker = await forTest(connect(t.database.databaseUrl));
  await worker.run(`begin; drop table webhook_exchange_${day}`);
  const erasing = erase('--record', orderId, '--yes');
  await eventually(async () =>
    expect(
      await t.sql(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'select forget_emptied_table%'`,
      ),
    ).toHaveLength(1),
  );
  await worker.run('commit');
  expect(await erasing).toMatchObject(accepted);
});

describe('what names no person', () => {
  test.each([
    [['--email', 'nobody@plånted.example', '--yes'], 0, 'Nothing is kept'],
    [['--record', 'Order/4711', '--dry-run'], 1, 'Order/4711 does not exist, and no event of it is kept.'],
    [['--record', 'Customer/4711', '--yes'], 2, 'This is a Customer; pass an Order.'],
    [['--record', '4711', '--yes'], 1, '4711 does not exist, and no event of it is kept.'],
    [['--email', 'a@b', '--account', 'Customer/4711', '--yes'], 1, 'does not exist'],
    [['--email', 'a@b'], 2, 'pass --dry-run'],
    [['--email', 'ada@buyer.example.', '--yes'], 2, 'is not an email address'],
    [['--email', 'mailto:ada@plånted.example', '--yes'], 2, 'pass the address alone'],
    [['--email', '\u200bada@plånted.example', '--yes'], 2, 'pass the address alone'],
    [['--email', 'Ada<ada@plånted.example>', '--dry-run'], 2, 'pass the address alone'],
    [['--email', 'ada@x', '--email', 'bob@x', '--yes'], 2, 'pass one --email'],
    [['--record', '4711', '--record', '4712', '--yes'], 2, 'pass one --record'],
    [['--record', 'Order/4711', '--account', 'Customer/4711', '--yes'], 1, 'does not exist'],
    [['--email', 'a@b', '--record', 'Order/4711', '--yes'], 2, 'pass either --email or --record'],
  ])('%s exits with %i', async (options, exitCode, text) => {
    const result = await erase(...options);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stdout + result.stderr).toContain(text);
  });
});

test('a login that may not vacuum says what to run', async () => {
  const { DATABASE_DIRECT_URL: _, ...own } = env;
  const eraseAs = (...options: string[]) =>
    callOperatorWith(
      { env: own, input: Buffer.from(person.buyerEmail) },
      'person',
      'erase',
      '--email',
      '-',
      ...options,
    );
  const advice = 'Run as the owner: vacuum (analyze, index_cleanup on) public.customer_order';
  await plant();
  expect(await eraseAs('--yes')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(advice) });
  await plant();
  const { stderr } = await eraseAs('--yes', '--json');
  expect(JSON.parse(stderr)).toEqual({ warning: { message: expect.stringContaining(advice) } });
  const owner = await forTest(connect(t.database.databaseUrl));
  await owner.run(`set search_path = ''`);
  await owner.run(/Run as the owner: (vacuum [^"]+)/.exec(stderr)?.[1] ?? missing());
  expect(await erase('--email', person.buyerEmail, '--yes')).toMatchObject(accepted);
});

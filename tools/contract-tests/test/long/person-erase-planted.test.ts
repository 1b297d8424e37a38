import { callOperator, createTestAccounts } from '@deedwire/dev-environment/harness';
import { connect, eventually, missing, postGraphql } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { accepted, numberOf, startErasing } from '../support/erasing.ts';

// What a login of an interface stores in events neither erases another person nor keeps a person from being erased.

const { t, customer, env, good, broken, subscribe, erase, erasable, place, remove } = await startErasing();
const logins = {
  customer: await forFile(connect(await t.database.urlFor('customer_api'))),
  supplier: await forFile(connect(await t.database.urlFor('supplier_api'))),
};
const others = await createTestAccounts(t.operator);

/** Stores an event as a login of an interface can. Returns its id. */
async function plant(
  account: { accountId: string },
  record: string | null,
  snapshot: object | string,
  by: keyof typeof logins = 'customer',
): Promise<string> {
  const [row = missing()] = await logins[by].run(
    `insert into webhook_event (account_id, interface, event_type, record_id, snapshot) values ($1, $2, 'order.placed', $3, $4)
     returning id::text`,
    [
      account.accountId,
      by,
      record === null ? null : numberOf(record),
      typeof snapshot === 'string' ? snapshot : JSON.stringify(snapshot),
    ],
  );
  return String(row['id']);
}

/** Stores an event as a build of an earlier release could, with a snapshot that PostgreSQL cannot read. */
async function plantUnreadable(account: { accountId: string }, record: string | null, snapshot: string) {
  const [{ definition } = missing()] = await t.sql(
    `select pg_get_constraintdef(oid) as definition from pg_constraint
     where conname = 'webhook_event_is_jsonb' and conrelid = 'webhook_event'::regclass`,
  );
  await t.sql('alter table webhook_event drop constraint webhook_event_is_jsonb');
  const id = await plant(account, record, snapshot);
  await t.sql(`alter table webhook_event add constraint webhook_event_is_jsonb ${String(definition)}`);
  return id;
}

const addressOf = (buyerEmail: string) => ({ order: { buyerEmail } });
const eventGid = (id: string): string => `gid://service/WebhookEvent/${id}`;
const keptOf = async (...options: string[]) => JSON.parse((await erase(...options, '--json')).stdout);

const orderOf = async (buyerEmail: string): Promise<string> =>
  (await place(`Key of ${buyerEmail}`, { item: 'Tea', buyerEmail })).order.id;

const emailOf = (id: string) => t.sql('select buyer_email from customer_order where id = $1', [numberOf(id)]);
/** The accounts of the events of a record that are not erased. */
const accountsOfEvents = (id: string) =>
  t.sql(`select account_id::text from webhook_event where record_id = $1 and snapshot::text <> '{}'`, [numberOf(id)]);

test('planted events with the address of a person erase no other order, and lose no delivery of it', async () => {
  const number = numberOf(await subscribe(broken));
  const [own, bystander] = [await orderOf('own@client'), await orderOf('bystander@client')];
  await eventually(async () =>
    expect(await t.sql('select from webhook_pending_delivery where subscription_id = $1', [number])).toHaveLength(2),
  );
  await plant(customer, null, { order: { id: bystander, buyerEmail: 'own@client' } });
  await plant(others.customer, own, addressOf('own@client'));
  expect(await keptOf('--email', 'own@client', '--yes')).toMatchObject({
    records: [{ recordId: own, accountId: customer.id }],
    unreadable: [],
  });
  expect(await emailOf(bystander)).toEqual([{ buyer_email: 'bystander@client' }]);
  expect(
    await t.sql(
      `select record_id::text from webhook_pending_delivery p join webhook_delivery d on d.id = p.delivery_id
       where p.subscription_id = $1`,
      [number],
    ),
  ).toEqual([{ record_id: numberOf(bystander) }]);
});

test('an order which only an event gives the address is listed apart, and erased with --record only', async () => {
  const [own, bystander] = [await orderOf('own@order'), await orderOf('bystander@order')];
  await plant(customer, bystander, addressOf('own@order'));
  await plant(others.customer, bystander, addressOf('own@order'));
  const named = [{ recordId: bystander, accountId: customer.id }];
  expect(await keptOf('--email', 'own@order', '--dry-run')).toMatchObject({
    records: [{ recordId: own, accountId: customer.id }],
    namedByEvents: named,
  });
  const erased = await erase('--email', 'own@order', '--yes');
  expect(erased).toMatchObject(accepted);
  expect(erased.stdout).toMatch(/^named by an event only, kept +account\n.*\n.*erase it with --record\.\n\nrecord /);
  expect(erased.stdout).toContain('\nNothing else of it is left\n');
  const again = await keptOf('--email', 'own@order', '--yes');
  expect(again).toMatchObject({ records: [], tables: [], namedByEvents: named });
  expect(await emailOf(bystander)).toEqual([{ buyer_email: 'bystander@order' }]);
  // The event of the other account stays.
  expect(await erase('--record', bystander, '--yes')).toMatchObject({
    ...accepted,
    stdout: expect.stringContaining('Nothing of it is left'),
  });
  expect(await accountsOfEvents(bystander)).toEqual([{ account_id: others.customer.accountId }]);
});

test('an earlier address of an order is one that only an event gives', async () => {
  const id = await orderOf('earlier@order');
  await t.sql(`update customer_order set buyer_email = 'later@order' where id = $1`, [numberOf(id)]);
  const named = { records: [], namedByEvents: [{ recordId: id, accountId: customer.id }] };
  expect(await keptOf('--email', 'earlier@order', '--yes')).toMatchObject(named);
  expect(await keptOf('--email', 'earlier@order', '--account', others.customer.id, '--yes')).toMatchObject({
    namedByEvents: [],
  });
  expect(await keptOf('--email', 'later@order', '--yes')).toMatchObject({ records: named.namedByEvents });
});

test('an event of the other interface changes nothing', async () => {
  const id = await orderOf('own@interface');
  await plant(others.supplier, id, addressOf('own@interface'), 'supplier');
  await plant(others.supplier, null, { order: { id, buyerEmail: 'own@interface' } }, 'supplier');
  expect(await keptOf('--email', 'own@interface', '--yes')).toMatchObject({
    records: [{ recordId: id, accountId: customer.id }],
    unreadable: [],
  });
  expect(await t.sql('select from person_erasure')).toEqual([]);
  expect(await erase('--record', id, '--account', t.accounts.supplier.id, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: `error: ${id} is of the account ${customer.id}. Pass this one, or none.\n`,
  });
});

test('of a removed order, all events have to agree', async () => {
  const [own, changed, stolen] = [
    await orderOf('own@removed'),
    await orderOf('changed@removed'),
    await orderOf('stolen@removed'),
  ];
  await plant(customer, changed, addressOf('own@removed.example'));
  for (const id of [own, changed, stolen]) await remove(id);
  await plant(others.customer, stolen, addressOf('own@removed'));
  expect(await keptOf('--email', 'own@removed', '--yes')).toMatchObject({
    records: [{ recordId: own, accountId: customer.id }],
    namedByEvents: [{ recordId: stolen, accountId: others.customer.id }],
  });
  expect(await keptOf('--email', 'stolen@removed', '--dry-run')).toMatchObject({
    records: [],
    namedByEvents: [{ recordId: stolen, accountId: customer.id }],
  });
  expect(await keptOf('--email', 'changed@removed', '--dry-run')).toMatchObject({
    records: [],
    namedByEvents: [{ recordId: changed, accountId: customer.id }],
  });
  const refused = await erase('--record', stolen, '--yes');
  expect(refused).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: The row of ${stolen} is gone, and what is kept of it belongs to several accounts: ${customer.id}, ${others.customer.id}. Add --account.\n`,
  });
  expect(await erase('--record', stolen, '--account', customer.id, '--yes')).toMatchObject(accepted);
  expect(await accountsOfEvents(stolen)).toEqual([{ account_id: others.customer.accountId }]);
});

test('an erasure that an earlier release began for another account than that of the row does not begin', async () => {
  const id = await orderOf('own@begun');
  await expect(
    t.sql(`select begin_person_erasure('Order', $1, $2)`, [numberOf(id), others.customer.accountId]),
  ).rejects.toThrow('is of another account than');
  expect(await emailOf(id)).toEqual([{ buyer_email: 'own@begun' }]);
});

test('events about orders that never existed erase nothing, and are counted', async () => {
  const id = await orderOf('own@invented');
  const erasures = () => t.sql(`select subject from audit_entry where action = 'person.erase'`);
  const before = await erasures();
  await logins.customer.run(
    `insert into webhook_event (account_id, interface, event_type, record_id, snapshot)
     select $1, 'customer', 'order.placed', $2::bigint - n, $3 from generate_series(1, 3000) n`,
    [customer.accountId, numberOf(id), JSON.stringify(addressOf('own@invented'))],
  );
  const { stdout } = await erase('--email', 'own@invented', '--dry-run');
  expect(stdout).toContain('and 2980 more, which --json prints\n');
  expect(stdout.match(/Order/g)).toHaveLength(21);
  const { records, namedByEvents } = await keptOf('--email', 'own@invented', '--yes');
  expect(records).toEqual([{ recordId: id, accountId: customer.id }]);
  expect(namedByEvents).toHaveLength(3_000);
  expect(await erasures()).toHaveLength(before.length + 1);
  expect(await t.sql('select from person_erasure')).toEqual([]);
  await t.sql('delete from webhook_event where record_id between $1::bigint - 3000 and $1::bigint - 1', [numberOf(id)]);
});

/** Stores an event about a record again as soon as it is erased, until there are `times` of them. */
async function writeAgain(record: string, times: number): Promise<void> {
  await t.sql(
    `create or replace function write_again() returns trigger language plpgsql set search_path = public as $$
     begin
       if (select count(*) from webhook_event where record_id = old.record_id) < tg_argv[0]::int then
         insert into webhook_event (account_id, interface, event_type, record_id, snapshot)
         values (old.account_id, old.interface, old.event_type, old.record_id, old.snapshot);
       end if;
       return null;
     end
     $$`,
  );
  await t.sql(
    `create or replace trigger write_again after update on webhook_event
     for each row when (new.record_id = ${numberOf(record)}) execute function write_again(${times})`,
  );
}

test('what an interface stores about a person meanwhile is erased too', async () => {
  const order = await orderOf('own@meanwhile');
  await writeAgain(order, 4);
  expect(await erase('--email', 'own@meanwhile', '--yes')).toMatchObject(accepted);
  await t.sql('drop trigger write_again on webhook_event');
  expect(await t.sql('select snapshot from webhook_event where record_id = $1', [numberOf(order)])).toEqual(
    Array.from({ length: 4 }, () => ({ snapshot: {} })),
  );
});

test('an interface that stores events about a record all the time keeps only its erasure from ending', async () => {
  const busy = (await place('Key of another one', { item: 'Tea', buyerEmail: 'own@busy' }, others.customer)).order.id;
  const [begun, own] = [await orderOf('begun@busy'), await orderOf('own@busy')];
  await writeAgain(busy, 1_000);
  const event = String.raw`gid://service/WebhookEvent/\d+`;
  const kept = `What was written about ${busy} of ${others.customer.id} meanwhile is kept: webhook_event \\(1\\), among them the event ${event}\\. Run the command again with --record ${busy}\\.`;
  const ofBusy = `The erasure of ${busy} of ${others.customer.id}, which was interrupted, is not finished\\. ${kept}\n$`;
  expect(await erase('--record', busy, '--yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(new RegExp(`^error: The erasure is not finished\\. ${kept}\n$`)),
  });
  await t.sql(`select begin_person_erasure('Order', $1, $2)`, [numberOf(begun), customer.accountId]);
  expect(await erase('--email', 'own@busy', '--account', customer.id, '--yes')).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/\nNothing of it is left\n$/),
    stderr: expect.stringMatching(new RegExp(`^${ofBusy}`)),
  });
  expect(await t.sql('select record_id::text from person_erasure')).toEqual([{ record_id: numberOf(busy) }]);
  expect(await erase('--record', own, '--dry-run')).toMatchObject({
    stdout: expect.stringMatching(/\n\nNothing else is kept\n$/),
  });
  // Its address no longer finds the record.
  const again = await erase('--email', 'own@busy', '--yes');
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(new RegExp(`^error: ${ofBusy}`)) });
  expect(again.stdout).not.toContain('is left');
  await t.sql('drop trigger write_again on webhook_event');
  expect(await erase('--email', 'own@busy', '--yes')).toMatchObject(accepted);
  expect(await t.sql('select from person_erasure')).toEqual([]);
});

const noOrder = 'it has no id of a Order';
const noAddress = 'it has no address of at most 254 characters';
const noJsonb = 'its snapshot is no jsonb: ';
const orderWith = (email: string): string => `{"order":{"id":"gid://service/Order/1","buyerEmail":${email}}}`;

const odd = [
  [`{"order":{"id":"gid://service/Order/${'9'.repeat(19)}"}}`, noOrder],
  [`{"order":{"id":"gid://service/Order/${'9'.repeat(23)}"}}`, noOrder],
  ['{"order":{"id":"gid://service/Customer/1"}}', noOrder],
  ['{"order":{"id":4711}}', noOrder],
  ['{"order":"gid://service/Order/1"}', noOrder],
  ['[{"order":null}]', noOrder],
  ['null', noOrder],
  [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, noOrder],
  ['{"order":1e999999}', noJsonb],
  [String.raw`{"order":{"id":"\ud800"}}`, noJsonb],
  [String.raw`{"order":{"buyerEmail":"\u0000"}}`, noJsonb],
] as const;
const withoutAddress = ['4711', JSON.stringify(`${'é'.repeat(200_000)}@`)];

test('events that cannot be read are named, and stop nothing', async () => {
  const reasons = new Map<string, string>();
  for (const [snapshot, reason] of odd)
    reasons.set(eventGid(await plantUnreadable(others.customer, null, snapshot)), reason);
  const byEmail = new Map(reasons);
  for (const email of withoutAddress)
    byEmail.set(eventGid(await plant(others.customer, null, orderWith(email))), noAddress);
  const later = await plant(others.customer, '9000000000000000000', addressOf('own@unreadable'));
  byEmail.set(eventGid(later), 'it is older than its record');
  const negative = await plant(others.customer, '-1', addressOf('own@unreadable'));
  byEmail.set(eventGid(negative), noOrder);

  const [first, second] = [
    await orderOf('own@unreadable'),
    (await place('Another key', { item: 'Tea', buyerEmail: 'own@unreadable' }, others.customer)).order.id,
  ];
  for (const [options, named] of [
    [['--email', 'own@unreadable', '--account', customer.id], byEmail],
    [['--record', second], reasons],
  ] as const) {
    const dry = await erase(...options, '--dry-run');
    expect(dry).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/record .*\n.*\n\ntable /) });
    const { exitCode, stdout, stderr } = await erase(...options, '--yes', '--json');
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({
      exitCode: 0,
      records: [{}],
      unreadable: Array.from(named, ([eventId, reason]) => ({ eventId, reason: expect.stringContaining(reason) })),
    });
    for (const text of [dry.stderr, JSON.parse(stderr).warning.message])
      for (const eventId of named.keys()) expect(text).toContain(`  ${eventId}: `);
  }
  for (const id of [first, second])
    expect(await erase('--record', id, '--dry-run')).toMatchObject({ stdout: 'Nothing is kept\n' });
  for (const id of byEmail.keys()) await t.sql('delete from webhook_event where id = $1', [numberOf(id)]);
});

test('an unreadable event of the record is erased with it', async () => {
  const id = await orderOf('own@of-record');
  const event = await plantUnreadable(customer, id, String.raw`{"order":"\ud800"}`);
  expect(await erase('--email', 'own@of-record', '--yes')).toMatchObject(accepted);
  expect(await t.sql('select snapshot from webhook_event where id = $1', [event])).toEqual([{ snapshot: {} }]);
});

test('the worker delivers what comes after an event that PostgreSQL cannot read', async () => {
  await subscribe(good);
  const whole = String.raw`{"order":{"id":"gid://service/Order/1","item":"\u0000","buyerEmail":"a@b","note":"\ud800"}}`;
  for (const snapshot of [whole, String.raw`{"order":"\ud800"}`, '{"order":1e999999}']) {
    const event = await plantUnreadable(customer, null, snapshot);
    await t.sql(`insert into webhook_event_queue (account_id, interface, event_id) values ($1, 'customer', $2)`, [
      customer.accountId,
      event,
    ]);
  }
  await place('after', { item: 'After the unreadable ones', buyerEmail: 'after@unreadable' });
  await eventually(async () => {
    expect(good.deliveries.map(({ body }) => body.toString())).toEqual(
      expect.arrayContaining([expect.stringContaining('After the unreadable ones')]),
    );
    expect(await t.sql('select from webhook_event_queue where blocked_on is null')).toEqual([]);
  });
  await t.sql(`delete from webhook_event where record_id is null`);
});

test.each(['\0', '\ud800'])('what clients pass with %j is refused before it is stored', async (bad) => {
  const before = await erasable();
  const requests = [
    {
      query: 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { order { id } userErrors { code } } }',
      variables: { input: { item: 'Tea', note: bad } },
    },
    {
      query: `mutation { placeOrder(input: { item: "Tea", note: ${JSON.stringify(bad)} }) { order { id } userErrors { code } } }`,
    },
  ];
  for (const request of requests) {
    const { status, body } = await postGraphql<object>(t.urls.customer, customer.credential, request);
    expect({ status, codes: body.errors?.map(({ extensions }) => extensions?.['code']) }).toEqual({
      status: 200,
      codes: [expect.stringMatching(/^(?:BAD_USER_INPUT|GRAPHQL_\w+_FAILED)$/)],
    });
  }
  expect(await erasable()).toEqual(before);
});

test('an address on the command line is erased, and a warning says who sees it', async () => {
  await orderOf('own@flag');
  const { exitCode, stdout, stderr } = await callOperator(env, 'person', 'erase', '--email', 'own@flag', '--dry-run');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('customer_order') });
  expect(stderr).toBe(
    'The list of processes and the history of the shell show this address. Pass --email - and pipe it.\n',
  );
});

test.each(['\\u0000', '\\ud800', '\\udc00\\ud800'])('no login stores a snapshot with %s', async (text) => {
  const before = await erasable();
  await expect(plant(customer, null, `{"order":{"buyerEmail":"${text}"}}`)).rejects.toThrow(
    /unsupported Unicode escape sequence|invalid input syntax for type json/,
  );
  await expect(plant(customer, null, `{"order":1e999999}`)).rejects.toThrow('overflows numeric');
  expect(await erasable()).toEqual(before);
});

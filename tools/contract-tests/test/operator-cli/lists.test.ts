import { testService } from '@deedwire/core/test-service';
import { callOperator, callOperatorWith, createHarness, type OperatorResult } from '@deedwire/dev-environment/harness';
import { missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  insertAttempts,
  insertDelivery,
  insertEvent,
  insertExchange,
  insertPending,
  insertSubscription,
  type StoredDelivery,
} from '../support/stored-deliveries.ts';

const harness = await forFile(createHarness());
// The login is only in the group role `operator`, as in production.
const env = { DATABASE_URL: await harness.database.urlFor('operator') };
const subscription = await insertSubscription(harness, 'customer', harness.accounts.customer);
const other = await insertSubscription(harness, 'supplier', harness.accounts.supplier);
const deliveries: StoredDelivery[] = [];
for (let sequence = 1; sequence <= 4; sequence += 1) {
  const about = sequence === 2 ? { eventType: 'order.placed', recordId: '4711' } : {};
  deliveries.push(await insertDelivery(harness, subscription, { sequence, ...about }));
}
const [attempted, , third] = deliveries;
for (const delivery of deliveries.slice(0, 2)) await insertEvent(harness, delivery);
if (attempted !== undefined) await insertAttempts(harness, subscription, attempted, [503, 200]);
if (third !== undefined) await insertPending(harness, subscription, third, { attempts: 1, dueInSeconds: 3_600 });
deliveries.push(await insertDelivery(harness, other, { eventType: 'api_key.created', recordId: '4712' }));

const oneOf = (types: readonly string[]): string =>
  types.map((type) => `${/^[AEIOU]/.test(type) ? 'an' : 'a'} ${type}`).join(' or ');
const anyAccount = oneOf(Object.values(testService.interfaces).map(({ account }) => account));

const operate = (...commandArguments: string[]): Promise<OperatorResult> => callOperator(env, ...commandArguments);

async function listed(...commandArguments: string[]): Promise<Record<string, unknown>[]> {
  const result = await operate(...commandArguments, '--json');
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout);
}

const idsOf = (rows: readonly Record<string, unknown>[]): unknown[] => rows.map(({ id }) => id);
const gidOf = (index: number): string => deliveries[index]?.gid ?? '';

describe('organization, account and client list', () => {
  let organization: Record<string, unknown>;
  let supplier: Record<string, unknown>;

  beforeAll(async () => {
    organization = JSON.parse((await operate('organization', 'create', '--name', 'Harbour 100%', '--json')).stdout);
    const of = ['--organization', String(organization['id'])];
    supplier = JSON.parse((await operate('supplier', 'create', ...of, '--name', 'Northwind', '--json')).stdout);
    await operate('customer', 'create', ...of, '--name', 'Keystone_1');
  });

  test('organizations are filtered by a part of their name, and continue after a row', async () => {
    const all = await listed('organization', 'list');
    expect(all[0]).toEqual({ id: organization['id'], name: 'Harbour 100%', createdAt: expect.any(String) });
    expect(all.length).toBeGreaterThan(1);
    expect(await listed('organization', 'list', '--name', 'R 100%')).toEqual(all.slice(0, 1));
    expect(await listed('organization', 'list', '--after', String(organization['id']))).toEqual(all.slice(1));
  });

  test('accounts of both interfaces, of one, of an organization and with a name', async () => {
    const of = ['--organization', String(organization['id'])];
    const both = await listed('account', 'list', ...of);
    expect(both).toEqual([
      {
        id: expect.stringMatching(/^gid:\/\/service\/Customer\//),
        interfaceName: 'customer',
        externalId: null,
        name: 'Keystone_1',
        organizationId: organization['id'],
        organizationName: 'Harbour 100%',
        createdAt: expect.any(String),
      },
      expect.objectContaining({ id: supplier['id'], interfaceName: 'supplier', name: 'Northwind' }),
    ]);
    expect(await listed('account', 'list', ...of, '--interface', 'supplier')).toEqual(both.slice(1));
    expect(await listed('account', 'list', '--name', 'STONE_')).toEqual(both.slice(0, 1));
    expect((await listed('account', 'list')).length).toBeGreaterThan(2);
    expect(await listed('account', 'list', ...of, '--after', String(both[0]?.['id']))).toEqual(both.slice(1));
  });

  test('clients of all accounts and of one, with the number of their keys', async () => {
    const of = ['--interface', 'supplier', '--account', String(supplier['id'])];
    const issued = JSON.parse((await operate('credential', 'issue', ...of, '--json')).stdout);
    await operate('credential', 'issue', ...of, '--client', issued.clientId, '--expires', '2099-12-31');
    const client = {
      clientId: issued.clientId,
      accountId: supplier['id'],
      interfaceName: 'supplier',
      schemaVersion: expect.stringMatching(/^\d{4}-/),
      costMaximum: 2000,
      costRestoreRate: 200,
      liveKeys: 2,
      lastUsedAt: null,
      createdAt: expect.any(String),
    };
    expect(await listed('client', 'list', '--account', String(supplier['id']))).toEqual([client]);
    const all = await listed('client', 'list');
    expect(all[0]).toEqual(client);
    expect(all.length).toBeGreaterThan(1);
    expect(await listed('client', 'list', '--after', String(client.clientId))).toEqual(all.slice(1));
    const part = await operate('client', 'list', '--limit', '1');
    expect(part.stderr).toContain(`Add --after ${client.clientId} to continue`);
    expect(await operate('client', 'list', '--after', 'unknown')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The client unknown does not exist.'),
    });
    const [keyId] = (await listed('credential', 'list', ...of)).map((key) => String(key['keyId']));
    await operate('credential', 'revoke', keyId ?? '');
    expect(await listed('client', 'list', '--account', String(supplier['id']))).toEqual([{ ...client, liveKeys: 1 }]);
  });

  test('say what to do next if nothing matches', async () => {
    for (const [command, next] of [
      [['organization', 'list', '--name', 'none'], 'deedwire-operator organization list'],
      [['account', 'list', '--name', 'none'], 'deedwire-operator organization list'],
      [['delivery', 'list', '--until', '2026-01-02'], 'deedwire-operator subscription list'],
      [['subscription', 'list', '--status', 'PAUSED'], 'deedwire-operator account list'],
    ] as const) {
      const { exitCode, stdout, stderr } = await operate(...command);
      expect({ exitCode, stderr, lines: stdout.split('\n').length }).toEqual({ exitCode: 0, stderr: '', lines: 2 });
      expect(stdout).toContain(next);
      expect(await listed(...command)).toEqual([]);
    }
  });
});

describe('subscription list and show', () => {
  test('list those of all accounts, of one, and of a status', async () => {
    expect(idsOf(await listed('subscription', 'list'))).toEqual([other.gid, subscription.gid]);
    const customer = harness.accounts.customer.id;
    expect(await listed('subscription', 'list', '--account', customer)).toEqual([
      {
        id: subscription.gid,
        name: null,
        accountId: customer,
        interfaceName: 'customer',
        callbackUrl: 'https://receiver.example/',
        status: 'ACTIVE',
        timeoutSeconds: 5,
        requestHeaderName: null,
        headerState: null,
        pausedReason: null,
        pausedAt: null,
        eventTypes: [],
        createdAt: expect.any(String),
        rotation: null,
      },
    ]);
    expect(idsOf(await listed('subscription', 'list', '--status', 'ACTIVE', '--after', other.gid))).toEqual([
      subscription.gid,
    ]);
  });

  test('show what is known about the deliveries and the receiver', async () => {
    await harness.sql(
      `insert into webhook_receiver_state
         (subscription_id, url_number, consecutive_failures, breaker_probes, failing_since, last_failure_at, hold_until)
       values (${subscription.id}, 1, 12, 1, '2026-11-01T08:00Z', '2026-11-01T09:00Z', '2026-11-01T10:00Z')`,
    );
    const { stdout } = await operate('subscription', 'show', subscription.gid);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).join(': '))).toEqual([
      `subscription: ${subscription.gid}`,
      'name: -',
      `account: ${harness.accounts.customer.id} (customer)`,
      'callback URL: https://receiver.example/',
      'timeout: 5 s',
      'request header: -',
      'status: ACTIVE',
      expect.stringMatching(/^created: 20/),
      'rotation: -',
      'last sequence: 1',
      'health: FAILING',
      'pending: 1',
      expect.stringMatching(/^oldest pending: 20/),
      'failed: 0',
      'last delivered: -',
      'failures in a row: 12',
      'failing since: 2026-11-01T08:00:00.000Z',
      'last failure: 2026-11-01T09:00:00.000Z',
      'Retry-After until: 2026-11-01T10:00:00.000Z',
      '',
    ]);
    expect(JSON.parse((await operate('subscription', 'show', other.gid, '--json')).stdout)).toMatchObject({
      id: other.gid,
      lastSequence: 1,
      name: null,
      health: { state: 'HEALTHY', pendingCount: 0, consecutiveFailures: 0, breakerOpenUntil: null },
    });
    expect(await operate('subscription', 'show', 'gid://service/WebhookSubscription/1', '--json')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('"code":"NOT_FOUND"'),
    });
  });
});

describe('delivery list', () => {
  test('filters by account, subscription, status, type and time', async () => {
    const newestFirst = [4, 3, 2, 1, 0].map(gidOf);
    expect(idsOf(await listed('delivery', 'list'))).toEqual(newestFirst);
    const customer = ['--account', harness.accounts.customer.id];
    expect(idsOf(await listed('delivery', 'list', ...customer))).toEqual(newestFirst.slice(1));
    expect(idsOf(await listed('delivery', 'list', '--subscription', other.gid))).toEqual([gidOf(4)]);
    expect(idsOf(await listed('delivery', 'list', ...customer, '--subscription', other.gid))).toEqual([]);
    expect(idsOf(await listed('delivery', 'list', ...customer, '--status', 'PENDING'))).toEqual([gidOf(2)]);
    expect(idsOf(await listed('delivery', 'list', '--status', 'PENDING'))).toEqual([gidOf(2)]);
    expect(idsOf(await listed('delivery', 'list', ...customer, '--type', 'order.placed'))).toEqual([gidOf(1)]);
    const order = ['--record', 'Order/4711'];
    expect(idsOf(await listed('delivery', 'list', ...order))).toEqual([gidOf(1)]);
    expect(idsOf(await listed('delivery', 'list', '--record', '4711'))).toEqual([gidOf(1)]);
    expect(idsOf(await listed('delivery', 'list', '--record', 'gid://service/Order/4711'))).toEqual([gidOf(1)]);
    expect(idsOf(await listed('delivery', 'list', ...customer, ...order, '--status', 'DELIVERED'))).toEqual([gidOf(1)]);
    expect(idsOf(await listed('delivery', 'list', ...order, '--type', 'order.placed'))).toEqual([gidOf(1)]);
    for (const index of [0, 1]) {
      const event = ['--event', `WebhookEvent/${deliveries[index]?.eventId}`];
      expect(idsOf(await listed('delivery', 'list', ...customer, ...event))).toEqual([gidOf(index)]);
      expect(idsOf(await listed('delivery', 'list', '--subscription', subscription.gid, ...event))).toEqual([
        gidOf(index),
      ]);
      expect(await listed('delivery', 'list', '--subscription', other.gid, ...event)).toEqual([]);
      expect(idsOf(await listed('delivery', 'list', ...order, ...event))).toEqual(index === 1 ? [gidOf(1)] : []);
    }
    for (const filters of [
      [...customer, '--event', '4711'],
      ['--record', 'Order/4713'],
      [...customer, '--record', '4712'],
      [...order, '--subscription', other.gid],
      [...order, '--type', 'api_key.created'],
      [...order, '--status', 'FAILED'],
    ]) {
      expect(await listed('delivery', 'list', ...filters)).toEqual([]);
    }
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
    for (const time of [dayAgo, '24h', 'yesterday']) {
      for (const filter of [[], customer]) {
        expect((await listed('delivery', 'list', ...filter, '--since', time)).length).toBeGreaterThan(3);
        expect(await listed('delivery', 'list', ...filter, '--until', time)).toEqual([]);
      }
    }
  });

  test('ends at the limit, says so, and continues after a row', async () => {
    const first = await operate('delivery', 'list', '--limit', '2');
    expect(
      first.stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(' ')[0]),
    ).toEqual([gidOf(4), gidOf(3)]);
    expect(first.stderr).toBe(`There are more rows. Add --after ${gidOf(3)} to continue, or raise --limit.\n`);
    const second = await operate('delivery', 'list', '--limit', '2', '--after', gidOf(3), '--json');
    expect(idsOf(JSON.parse(second.stdout))).toEqual([gidOf(2), gidOf(1)]);
    expect(JSON.parse(second.stderr)).toEqual({
      warning: { message: expect.stringContaining(`--after ${gidOf(1)} `) },
    });
    const [last = missing()] = (await listed('delivery', 'list')).slice(-1);
    expect(await operate('delivery', 'list', '--after', String(last['id']))).toEqual({
      exitCode: 0,
      stdout: 'There are no more rows.\n',
      stderr: '',
    });
  });

  test.each<[string[], number, string]>([
    [['--type', 'webhook.test'], 2, '--type needs --account, --subscription or --record'],
    [['--event', '4711'], 2, '--event needs --account, --subscription or --record'],
    [['--account', 'Customer/1', '--event', 'Order/1'], 2, 'This is an Order; pass a WebhookEvent.'],
    [
      ['--record', 'Invoice/1'],
      2,
      `This is an Invoice; pass ${oneOf(Object.values(testService.interfaces).flatMap(({ records }) => records))}.`,
    ],
    [['--account', 'Customer/1', '--type', 'order.palced'], 1, 'Did you mean "order.placed"?'],
    [['--since', '2027-01-02', '--until', '2027-01-01'], 2, '--since must be before --until'],
    [['--limit', '10001'], 2, 'It must be a whole number from 1 to 10000.'],
    [['--status', 'LOST'], 2, 'Allowed choices are PENDING, DELIVERED, FAILED, EXPIRED.'],
    [['--account', 'gid://service/Customer/1'], 1, 'The customer gid://service/Customer/1 does not exist.'],
    [['--account', '1'], 1, 'The account 1 does not exist.'],
    [['--subscription', '1'], 1, 'The subscription gid://service/WebhookSubscription/1 does not exist.'],
    [['--account', 'c-9'], 1, 'The account c-9 does not exist.'],
    [
      ['--account', 'gid://service/Customer/c-1'],
      2,
      `Pass ${anyAccount}, for example gid://service/Customer/4711, or its number.`,
    ],
    [['--account', 'gid://service/Order/1'], 2, `This is an Order; pass ${anyAccount}.`],
    [['--after', 'gid://service/Customer/1'], 2, 'This is a Customer; pass a WebhookDelivery.'],
    [
      ['--subscription', 'gid://other/WebhookSubscription/1'],
      2,
      'Its namespace is other, but GID_NAMESPACE is service.',
    ],
    [['--since', 'lately'], 2, 'It must be a time such as 1h (ago), today, yesterday, 2027-01-31'],
  ])('rejects %j', async (filters, exitCode, message) => {
    const result = await operate('delivery', 'list', ...filters);
    expect(result).toMatchObject({ exitCode, stdout: '' });
    expect(result.stderr).toContain(message);
    const json = await operate('delivery', 'list', ...filters, '--json');
    expect(JSON.parse(json.stderr)).toEqual({
      error: { code: expect.any(String), message: expect.stringContaining(message) },
    });
  });

  test('says where to look for a delivery that has expired after claims without an attempt', async () => {
    const id = gidOf(3).split('/').at(-1) ?? '';
    await harness.sql(
      `insert into webhook_failed_delivery (subscription_id, delivery_id, interface, claimed_at)
       select subscription_id, id, interface, array[now()] from webhook_delivery where id = ${id}`,
    );
    await harness.sql(`update webhook_retention set expired_before = ${id} + 1`);
    const { stdout } = await operate('delivery', 'show', gidOf(3));
    await harness.sql('update webhook_retention set expired_before = 0');
    await harness.sql('delete from webhook_failed_delivery');
    expect(stdout).toMatch(/EXPIRED/);
    expect(stdout).toContain(`\n\nNo attempts yet. See why: deedwire-operator delivery why ${gidOf(3)}\n`);
  });

  test('shows the attempts of a delivery, or where to look without one', async () => {
    const { stdout } = await operate('delivery', 'show', gidOf(0));
    expect(stdout).toContain(gidOf(0));
    expect(stdout).toContain('503');
    expect((await operate('delivery', 'show', gidOf(3))).stdout).toContain(
      `No attempts yet. See why: deedwire-operator delivery why ${gidOf(3)}\n`,
    );
    expect(await operate('delivery', 'show', '1')).toMatchObject({
      exitCode: 1,
      stderr: 'error: The delivery gid://service/WebhookDelivery/1 does not exist.\n',
    });
  });

  test('shows what the attempts sent and received, without what could rewrite a terminal', async () => {
    const [delivery] = deliveries;
    if (delivery === undefined) throw new Error('There is no delivery.');
    // An exchange belongs to an attempt of the same hour.
    await harness.sql('update webhook_attempt set started_at = now() where delivery_id = $1', [delivery.id]);
    await insertExchange(harness, subscription, delivery, Buffer.from(`<h1>\n\u202Eno\u2028${'x'.repeat(3_000)}</h1>`));
    await harness.sql(
      `update webhook_exchange set response_headers = array['server', E'a\\u001b[2J\\u009b2J'], dns_ms = 7 where delivery_id = $1`,
      [delivery.id],
    );
    const { stdout } = await operate('delivery', 'show', delivery.gid);
    expect(stdout).toContain('Attempt 1: POST https://receiver.example/');
    expect(stdout).toContain('Attempt 2: no details were kept.');
    expect(stdout).toContain('DNS 7 ms, connect -');
    expect(stdout).toContain('\n> a: b\n< server: a\\u001b[2J\\u009b2J\n');
    expect(stdout).toContain('\n  | <h1>\n  | \\u202eno\\u2028xxx');
    expect(stdout).toMatch(/… 1,0\d\d more characters/);
    const json = await operate('delivery', 'show', delivery.gid, '--json');
    for (const output of [stdout, json.stdout])
      expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    expect(JSON.parse(json.stdout).attempts[1].exchange).toMatchObject({
      requestHeaders: [{ name: 'a', value: 'b' }],
      responseHeaders: [{ name: 'server', value: 'a\u001B[2J\u009B2J' }],
      responseBody: expect.stringMatching(/<\/h1>$/),
    });
  });

  test('`delivery replay` counts the deliveries of a subscription as `subscription replay` does', async () => {
    const options = ['--since', new Date(Date.now() - 3_600_000).toISOString(), '--all', '--dry-run'];
    const replayed = await operate('delivery', 'replay', '--subscription', subscription.gid, ...options);
    expect(replayed).toEqual(await operate('subscription', 'replay', subscription.gid, ...options));
    expect(replayed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^4 deliveries/) });
  });
});

const numberOf = (gid: string): string => gid.split('/').at(-1) ?? '';
const headOf = (table: string): string[] => (table.split('\n')[0] ?? '').split(/ {2,}/);

async function inTerminal(columns: number, ...commandArguments: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await callOperatorWith({ env, columns }, ...commandArguments);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

describe('in a terminal', () => {
  const hostile = 'Ann \u202E4202-01-52\u2066\u200B\u2028\u009B2Jx';

  beforeAll(async () => {
    await operate('organization', 'create', '--name', `${hostile} ${'x'.repeat(100)}`);
  });

  test('every list fits 80 and 100 columns, with short ids and times', async () => {
    const customer = harness.accounts.customer.id;
    for (const [columns, ...list] of [
      [80, 'account', 'list'],
      [80, 'audit', 'list'],
      [100, 'audit', 'list'],
      [80, 'client', 'list'],
      [80, 'credential', 'list', '--account', customer],
      [80, 'delivery', 'list'],
      [100, 'delivery', 'list'],
      [100, 'delivery', 'list', '--subscription', subscription.gid],
      [80, 'organization', 'list'],
      [80, 'subscription', 'list'],
    ] as [number, ...string[]][]) {
      const lines = (await inTerminal(columns, ...list)).split('\n');
      const wrong = lines.filter((line) => line.length > columns || /gid:|\dT\d\d:/.test(line));
      expect({ list, wrong }).toEqual({ list, wrong: [] });
    }
  });

  test('nothing can rewrite it or reverse a text, including through a pipe', async () => {
    const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Default_Ignorable_Code_Point}]/u;
    const list = ['organization', 'list'];
    const outputs = [
      await inTerminal(100, ...list),
      ...(await Promise.all([operate(...list), operate(...list, '--json')])).map(({ stdout }) => stdout),
    ];
    for (const output of outputs) {
      expect(output).toContain(String.raw`Ann \u202e4202-01-52\u2066`);
      expect(output.replaceAll('\n', '')).not.toMatch(invisible);
    }
    expect((await listed(...list))[0]).toMatchObject({ name: expect.stringContaining(hostile) });
  });

  test('a filter removes the column that it fixes, and a pipe gets all columns', async () => {
    const all = ['delivery', 'status', 'type', 'occurred', 'next attempt', 'subscription', 'sequence', 'version'];
    expect(headOf(await inTerminal(200, 'delivery', 'list'))).toEqual(all);
    const filters = ['--subscription', subscription.gid, '--status', 'PENDING'];
    expect(headOf(await inTerminal(200, 'delivery', 'list', ...filters))).toEqual(
      all.filter((name) => name !== 'subscription' && name !== 'status'),
    );
    const piped = await operate('delivery', 'list', ...filters);
    expect(headOf(piped.stdout)).toEqual(all);
    expect(piped.stdout).toContain(`${gidOf(2)}  PENDING  webhook.test  20`);
    expect(await inTerminal(98, 'delivery', 'list')).toMatch(
      /\n\nColumns that do not fit: sequence, version\n--json prints everything\.\n$/,
    );
  });

  test('commands accept the ids that it shows', async () => {
    const [, row = ''] = (await inTerminal(100, 'delivery', 'list', '--status', 'PENDING')).split('\n');
    expect(row).toMatch(
      new RegExp(`^${numberOf(gidOf(2))}  webhook\\.test  +\\S+ ago +in \\S+ +${numberOf(subscription.gid)} `),
    );
    const [id = ''] = row.split(' ');
    expect((await operate('delivery', 'why', id)).stdout).toBe((await operate('delivery', 'why', gidOf(2))).stdout);
    const [, account = ''] = (await inTerminal(80, 'account', 'list', '--interface', 'customer')).split('\n');
    const [short = ''] = account.split(' ');
    expect(short).toMatch(/^Customer\/\d+$/);
    for (const name of [short, numberOf(short)])
      expect(await listed('client', 'list', '--account', name)).toEqual(
        await listed('client', 'list', '--account', `gid://service/${short}`),
      );
  });
});

describe('an identifier', () => {
  /** The commands that take an identifier of these types: as their last option, or after their options. */
  const commandsOf = {
    [anyAccount]: `credential issue --account, credential list --account, client list --account, listener list --account,
      listener forbid, listener allow, subscription list --account, delivery watch --account, account list --after`,
    'a WebhookListener': 'listener list --after, listener delete',
    'a WebhookSubscription': `subscription list --after, subscription show, subscription replay, subscription pause,
      subscription resume, subscription rotate, delivery watch --subscription, delivery replay --subscription,
      delivery send-pending --subscription`,
    'a WebhookReplay': 'subscription cancel-replay',
    'a WebhookSubscription or a WebhookListener': 'subscription reconcile --log -, subscription test',
    'a WebhookDelivery': 'delivery show, delivery why, delivery retry, webhook verify --delivery',
    'an Organization': `organization list --after, account list --organization, supplier create --organization,
      customer create --organization`,
  };

  test.each(
    Object.entries(commandsOf).flatMap(([types, list]) => list.split(/,\s+/).map((command) => [command, types])),
  )('of another type is named by %s', async (command = '', types = '') => {
    const { exitCode, stderr } = await operate(...command.split(' '), 'gid://service/Invoice/1');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`This is an Invoice; pass ${types}.\n`);
  });

  test('of an account says the interface', async () => {
    const customer = harness.accounts.customer.id;
    const keys = await listed('credential', 'list', '--account', customer);
    expect(keys.length).toBeGreaterThan(0);
    expect(await listed('credential', 'list', '--account', numberOf(customer))).toEqual(keys);
    expect(await listed('credential', 'list', '--account', customer, '--interface', 'customer')).toEqual(keys);
    const issued = JSON.parse((await operate('credential', 'issue', '--account', customer, '--json')).stdout);
    expect(issued.apiKey).toMatch(/^dw_customer_/);
    expect(await operate('credential', 'issue', '--account', customer, '--interface', 'supplier')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        `error: ${customer} is a Customer. Omit --interface, or pass an account of the supplier interface.\n` +
        'See: deedwire-operator credential issue --help\n',
    });
  });

  test('can be a number in each command', async () => {
    for (const command of [
      ['subscription', 'show', numberOf(subscription.gid)],
      ['subscription', 'pause', numberOf(other.gid)],
      ['subscription', 'resume', numberOf(other.gid)],
      ['delivery', 'list', '--account', numberOf(harness.accounts.customer.id), '--after', numberOf(gidOf(2))],
      ['account', 'list', '--after', numberOf(harness.accounts.customer.id)],
      ['listener', 'forbid', numberOf(harness.accounts.otherCustomer.id)],
    ])
      expect({ command, ...(await operate(...command)) }).toMatchObject({ command, exitCode: 0, stderr: '' });
    const short = `Subscription/${numberOf(subscription.gid)}`;
    expect((await operate('subscription', 'test', short, '--type', 'none')).stderr).toContain('no event type "none"');
    expect((await operate('listener', 'allow', numberOf(harness.accounts.otherCustomer.id))).stdout).toContain(
      `The account ${harness.accounts.otherCustomer.id} may create listeners.`,
    );
  });
});

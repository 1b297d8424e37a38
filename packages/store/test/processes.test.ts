import { hash, randomUUID } from 'node:crypto';
import { interfaceNames } from '@deedwire/core/test-service';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { createStore, type Database } from '../src/index.ts';
import { deleteOldUse } from '../src/processes/housekeeping.ts';
import {
  type CountedUse,
  type CountingPeriod,
  endProcess,
  recordUse,
  type RegisteredApp,
  registerProcess,
  selectLackingWorkers,
  storeAppContracts,
} from '../src/processes/processes.ts';
import { createServiceDatabase } from './support/database.ts';
import { seedAccount } from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const storeOf = (databaseUrl: string) => forFile(createStore({ databaseUrl, applicationName: 'test' }));
const admin = await storeOf(database.databaseUrl);
const supplierApi = await storeOf(await database.urlFor('supplier_api'));
const customerApi = await storeOf(await database.urlFor('customer_api'));
const worker = await storeOf(await database.urlFor('webhook_worker'));
const login = new URL(await database.urlFor('supplier_api')).username;

for (const interfaceName of interfaceNames) {
  const { id } = await seedAccount(admin, interfaceName);
  await superuser.run(
    `insert into api_client (account_id, interface, client_id, schema_version) values ($1, $2::interface_name, $2::interface_name || '-client', '2026-11-01')`,
    [id, interfaceName],
  );
}

beforeEach(async () => {
  await superuser.run(
    'delete from app_process; delete from app_contracts; delete from interface_use; delete from use_counting; delete from counted_coordinates',
  );
});

const processOf = (app: RegisteredApp, digest: string | null = null) => ({
  app,
  id: randomUUID(),
  version: '1.0.0',
  digest,
});
const contractsOf = (app: RegisteredApp, number = 0) => JSON.stringify({ app, number });
const storeBuild = (number: number) =>
  storeAppContracts(supplierApi, 'supplier-api', contractsOf('supplier-api', number));
const processes = () => superuser.run('select app, version, digest from app_process order by last_seen_at');
const periods = () =>
  superuser.run(
    `select state, round(extract(epoch from counted_until - counted_from) * 1000)::int as ms from use_counting order by id`,
  );
/** By how many seconds each period was seen after its last count. */
const seenAfter = async () =>
  (
    await superuser.run(
      'select extract(epoch from seen_at - counted_until)::int as seconds from use_counting order by id',
    )
  ).map(({ seconds }) => seconds);
const uses = () =>
  superuser.run(
    `select client_id as client, version, coordinate, count::int, day = (now() at time zone 'UTC')::date as today
     from interface_use join api_client on api_client.id = api_client_id order by 1, 2, 3`,
  );

describe('a process', () => {
  test('is registered with its contracts once they are stored, and without them before', async () => {
    const contracts = '{"app":"supplier-api"}\n';
    const process = processOf('supplier-api', hash('sha256', contracts));
    expect(await registerProcess(supplierApi, process)).toBe(false);
    expect(await processes()).toEqual([{ app: 'supplier-api', version: '1.0.0', digest: null }]);
    await storeAppContracts(supplierApi, 'supplier-api', contracts);
    await storeAppContracts(supplierApi, 'supplier-api', contracts);
    expect(await registerProcess(supplierApi, process)).toBe(true);
    expect(await processes()).toEqual([{ app: 'supplier-api', version: '1.0.0', digest: process.digest }]);
    expect(await superuser.run('select contracts from app_contracts')).toEqual([{ contracts }]);
    await endProcess(supplierApi, process);
    expect(await processes()).toEqual([]);
  });

  test('of another app is refused by the name of the login', async () => {
    const refusal = `The login ${login} cannot record for customer-api: it is a login of supplier-api.`;
    const forged = processOf('customer-api');
    await expect(registerProcess(supplierApi, forged)).rejects.toThrow(refusal);
    await expect(storeAppContracts(supplierApi, 'customer-api', '{}')).rejects.toThrow(refusal);
    await expect(endProcess(supplierApi, forged)).rejects.toThrow(refusal);
    await expect(recordUse(supplierApi, forged, first, one('customer-client'))).rejects.toThrow(refusal);
    expect(await processes()).toEqual([]);
  });

  test('behind a pooler that logs in as another role has no build, and is refused by the name of that role', async () => {
    await storeBuild(0);
    const process = processOf('supplier-api', hash('sha256', contractsOf('supplier-api')));
    await superuser.run(`create role shared_pooler login password 'x' in role supplier_api, customer_api`);
    const url = new URL(database.databaseUrl);
    url.username = 'shared_pooler';
    url.password = 'x';
    const pooled = createStore({ databaseUrl: url.href, applicationName: 'test' });
    const refusal =
      'The login shared_pooler cannot record for supplier-api: it is a login of customer-api and supplier-api.';
    expect(await registerProcess(pooled, process)).toBe(false);
    expect(await registerProcess(pooled, { ...process, digest: null })).toBe(false);
    await expect(storeAppContracts(pooled, 'supplier-api', contractsOf('supplier-api'))).rejects.toThrow(refusal);
    await expect(recordUse(pooled, process, first, one('supplier-client'))).rejects.toThrow(refusal);
    await expect(registerProcess(pooled, processOf('webhook-worker'))).rejects.toThrow(
      'cannot record for webhook-worker',
    );
    expect(await processes()).toEqual([{ app: 'supplier-api', version: '1.0.0', digest: null }]);
    expect(await periods()).toEqual([{ state: 'OPEN', ms: 0 }]);
    await pooled.close();
    await superuser.run('drop role shared_pooler');
  });

  test('takes the place of no other, whatever a login registers', async () => {
    const contracts = contractsOf('customer-api');
    await storeAppContracts(customerApi, 'customer-api', contracts);
    const real = processOf('customer-api', hash('sha256', contracts));
    await registerProcess(customerApi, real);
    await registerProcess(supplierApi, { ...real, app: 'supplier-api', version: '9.9.9' });
    // The contracts of one app are not those of another.
    expect(await registerProcess(supplierApi, { ...processOf('supplier-api'), digest: real.digest })).toBe(false);
    expect(await processes()).toContainEqual({ app: 'customer-api', version: '1.0.0', digest: real.digest });
    expect(await processes()).toContainEqual({ app: 'supplier-api', version: '9.9.9', digest: null });
    expect((await processes()).filter(({ digest }) => digest !== null)).toHaveLength(1);
  });

  test('is seen since it registers every minute', async () => {
    const process = processOf('supplier-api');
    const seen = async (ago: string) => {
      await superuser.run(
        'update app_process set seen_since = seen_since - $1::interval, last_seen_at = last_seen_at - $1',
        [ago],
      );
      await registerProcess(supplierApi, process);
      return superuser.run(
        'select round(extract(epoch from last_seen_at - seen_since))::int as seconds from app_process',
      );
    };
    await registerProcess(supplierApi, process);
    expect(await seen('70 seconds')).toEqual([{ seconds: 70 }]);
    expect(await seen('80 seconds')).toEqual([{ seconds: 150 }]);
    for (const gap of ['95 seconds', '-1 hour']) {
      expect(await seen(gap)).toEqual([{ seconds: 0 }]);
      expect(await seen('80 seconds')).toEqual([{ seconds: 80 }]);
    }
  });

  test('beyond 1,000 of an app counts as one without contracts', async () => {
    await storeBuild(0);
    const digest = hash('sha256', contractsOf('supplier-api'));
    await superuser.run(`
      insert into app_process (id, app, version, started_at, last_seen_at)
      select gen_random_uuid(), 'supplier-api', '0.9.0', now(), now() from generate_series(1, 1000)`);
    for (let process = 0; process < 3; process += 1)
      await registerProcess(supplierApi, processOf('supplier-api', digest));
    expect(await processes()).toHaveLength(1001);
    expect((await processes()).at(-1)).toEqual({ app: 'supplier-api', version: '1.0.0', digest: null });
    // A login cannot hide them behind a build.
    const [{ id } = missing()] = await superuser.run(`select md5('supplier-api')::uuid as id`);
    await registerProcess(supplierApi, { ...processOf('supplier-api', digest), id: String(id) });
    await endProcess(supplierApi, { app: 'supplier-api', id: String(id) });
    expect((await processes()).at(-1)).toEqual({ app: 'supplier-api', version: '1.0.0', digest: null });
    await superuser.run(`update app_process set last_seen_at = now() - interval '25 hours'`);
    await registerProcess(supplierApi, processOf('supplier-api'));
    expect(await processes()).toHaveLength(1);
  });

  test.each([
    ['no object', '[]', 'are not those of supplier-api'],
    ['those of another app', contractsOf('webhook-worker'), 'are not those of supplier-api'],
    ['no JSON', 'x', 'invalid input syntax'],
    [
      'more than 2 MB',
      JSON.stringify({ app: 'supplier-api', a: 'x'.repeat(2_000_000) }),
      'app_contracts_contracts_bounds',
    ],
  ])('cannot store contracts that are %s', async (_, contracts, message) => {
    await expect(storeAppContracts(supplierApi, 'supplier-api', contracts)).rejects.toThrow(message);
  });

  test('cannot store more than 20 contracts of an app', async () => {
    for (let number = 0; number < 20; number += 1) await storeBuild(number);
    await expect(storeBuild(20)).rejects.toThrow('too many builds');
    await superuser.run(`update app_contracts set stored_at = now() - interval '2 hours'`);
    await storeBuild(20);
    expect(await superuser.run('select from app_contracts')).toHaveLength(1);
  });
});

const first: CountingPeriod = { countedMs: null, isOverflowed: false, isEnded: false, coordinates: '' };
const after = (countedMs: number | null, change: Partial<CountingPeriod> = {}) => ({ ...first, countedMs, ...change });
const nothing: CountedUse[] = [];
const one = (clientId: string, count = 1): CountedUse[] => [[clientId, '2026-11-01', '', count]];
/** As if the last call was a minute ago. */
const letAMinutePass = (interval = '1 minute') =>
  superuser.run(
    `update use_counting set counted_from = counted_from - $1::interval, counted_until = counted_until - $1::interval,
       recorded_at = recorded_at - $1::interval, seen_at = seen_at - $1::interval`,
    [interval],
  );

const sets = () =>
  superuser.run(
    `select u.coordinates as old, c.coordinates, count(*)::int
     from use_counting u left join counted_coordinates c on c.id = u.coordinates_id
     group by 1, 2 order by 2`,
  );
const full = (prefix: string) => `
  select record_use('supplier-api', gen_random_uuid(), 0, false, false, '${prefix}' || n || repeat('x', 95000), '{}', '{}', '{}', '{}')
  from generate_series(1, 100) n`;

describe('the use of a version', () => {
  const process = processOf('supplier-api');
  const record = (period: CountingPeriod, use = nothing, by: Database = supplierApi) =>
    recordUse(by, process, period, use);

  test('is added to the count of the day, for clients of the own interface only', async () => {
    await record(first, one('supplier-client', 2));
    await record(after(0), one('supplier-client', 3));
    await record(after(0), one('customer-client'));
    expect(await uses()).toEqual([
      { client: 'supplier-client', version: '2026-11-01', coordinate: '', count: 5, today: true },
    ]);
  });

  test('cannot be taken back', async () => {
    await record(first, one('supplier-client', 5));
    await record(after(0), one('supplier-client', -4));
    await record(after(0), one('supplier-client', Number.MAX_SAFE_INTEGER));
    await record(after(0), one('supplier-client', 1));
    const [{ count } = missing()] = await superuser.run('select count::text from interface_use');
    expect(BigInt(String(count))).toBe(1_000_000_000_006n);
  });

  test('continues the period of the process by the time that has passed', async () => {
    await record(first);
    await letAMinutePass();
    await record(after(59_990));
    expect(await periods()).toEqual([{ state: 'OPEN', ms: 59_990 }]);
    await letAMinutePass();
    await record(after(59_000, { isEnded: true }));
    expect(await periods()).toEqual([{ state: 'ENDED', ms: expect.closeTo(119_000, -4) }]);
  });

  test.each([
    ['the clock of the process has measured more', 3_600_000],
    ['the process was suspended, or the clock of the database was set', 10_000],
    ['earlier counts may be lost', null],
    ['a time is negative', -1],
  ])('begins another period if %s', async (_, countedMs) => {
    await record(first);
    await letAMinutePass();
    await record(after(countedMs), one('supplier-client', 2));
    expect(await periods()).toEqual([
      { state: 'LOST', ms: 0 },
      { state: 'OPEN', ms: 0 },
    ]);
    expect((await seenAfter())[0]).toBe(60);
    expect(await uses()).toMatchObject([{ count: 2 }]);
  });

  test('has a gap if the clock of the database was set back', async () => {
    await record(first);
    await letAMinutePass('-1 hour');
    await record(after(0), one('supplier-client', 2));
    expect((await periods())[0]).toMatchObject({ state: 'LOST' });
    expect((await seenAfter())[0]).toBe(3600);
    expect(await uses()).toMatchObject([{ count: 2 }]);
  });

  test('has a gap while an API of a release runs that does not count', async () => {
    await record(first);
    const url = new URL(await database.urlFor('supplier_api'));
    url.searchParams.set('application_name', 'deedwire-supplier-api-costs');
    const old = await connect(url.href);
    await letAMinutePass();
    await record(after(60_000));
    await old.close();
    expect(await periods()).toEqual([
      { state: 'LOST', ms: 0 },
      { state: 'OPEN', ms: 0 },
    ]);
  });

  test('has no gap while another app has the name of such an API', async () => {
    await record(first);
    const url = new URL(await database.urlFor('customer_api'));
    url.searchParams.set('application_name', 'deedwire-supplier-api-costs');
    const other = await connect(url.href);
    await letAMinutePass();
    await record(after(60_000));
    await other.close();
    expect(await periods()).toEqual([{ state: 'OPEN', ms: 60_000 }]);
  });

  test('keeps the part of a period that overflowed apart', async () => {
    await record(first);
    await letAMinutePass();
    await record(after(60_000));
    await letAMinutePass();
    await record(after(60_000, { isOverflowed: true }));
    const [counted, overflowed, next] = await periods();
    expect(counted).toEqual({ state: 'ENDED', ms: expect.closeTo(60_000, -3) });
    expect(overflowed).toEqual({ state: 'OVERFLOWED', ms: expect.closeTo(60_000, -3) });
    expect(next).toEqual({ state: 'OPEN', ms: 0 });
  });

  test('is not counted before an API that registers has stored something', async () => {
    await registerProcess(supplierApi, process);
    await letAMinutePass();
    await registerProcess(supplierApi, process);
    expect(await periods()).toEqual([{ state: 'OPEN', ms: 0 }]);
    expect(await seenAfter()).toEqual([60]);
  });

  test('is only what the periods that are kept cover', async () => {
    await superuser.run(`
      insert into use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
      select 'supplier-api', gen_random_uuid(), '', now() - n * interval '2 minutes', now() - n * interval '1 minute', now(), now() - n * interval '1 minute', 'LOST'
      from generate_series(1, 20001) n;
      update use_counting set seen_at = now() - interval '1 day' where id = (select max(id) from use_counting)`);
    await record(first);
    const [kept] = await superuser.run(
      `select count(*)::int, extract(epoch from now() - min(counted_from))::int / 60 as minutes from use_counting`,
    );
    expect(kept).toEqual({ count: 20_002, minutes: 20_001 });
    // What was lost later stays lost.
    const [lost] = await superuser.run(
      `select extract(epoch from seen_at - counted_until)::int / 60 as minutes from use_counting order by seen_at - counted_until desc limit 1`,
    );
    expect(lost).toEqual({ minutes: 20_001 - 24 * 60 });
  });

  test('has a set of coordinates once for all periods, and each app its own', async () => {
    const coordinates = '2026-11-01 Query.old';
    const period = (app: RegisteredApp) => [processOf(app), { ...first, coordinates }, nothing] as const;
    for (let number = 0; number < 3; number += 1) await recordUse(supplierApi, ...period('supplier-api'));
    await recordUse(customerApi, ...period('customer-api'));
    expect(await sets()).toEqual([{ old: '', coordinates, count: 4 }]);
    expect(await superuser.run(`select app from counted_coordinates where coordinates <> '' order by app`)).toEqual([
      { app: 'customer-api' },
      { app: 'supplier-api' },
    ]);
  });

  test('has at most 8 MB of coordinates for an app, above which a period counts without them', async () => {
    const session = await connect(await database.urlFor('supplier_api'));
    await session.run(full('a'));
    const stored = async () =>
      superuser.run(
        `select sum(size_of_coordinates(coordinates)) between 7900000 and 8000000 as full,
           (select count(*)::int from use_counting where coordinates_id is null) as without
         from counted_coordinates where app = 'supplier-api'`,
      );
    expect(await stored()).toEqual([{ full: true, without: 16 }]);
    await session.run(full('b'));
    expect(await stored()).toEqual([{ full: true, without: 116 }]);
    await expect(session.run(`begin isolation level repeatable read; ${full('c')}`)).rejects.toThrow('read committed');
    await session.close();
    // Sets that are stored, and those of other apps, are not refused.
    await record({ ...first, coordinates: `a1${'x'.repeat(95_000)}` });
    await recordUse(customerApi, processOf('customer-api'), { ...first, coordinates: 'p' }, nothing);
    expect(await stored()).toEqual([{ full: true, without: 116 }]);

    await superuser.run(
      `update use_counting set counted_from = now() - interval '401 days', counted_until = now() - interval '401 days'`,
    );
    await deleteOldUse(worker, 1_000);
    expect(await superuser.run('select from counted_coordinates')).toEqual([]);
  });

  test('has at most 100,000 counts of an app and day', async () => {
    await superuser.run(`
      with client as (
        insert into api_client (account_id, interface, client_id, schema_version)
        select account_id, interface, client_id || '-' || n, schema_version
        from api_client, generate_series(1, 25) n
        where client_id = 'supplier-client'
        returning id, interface
      )
      insert into interface_use (api_client_id, interface, day, version, coordinate, count)
      select id, interface, (now() at time zone 'UTC')::date, '2026-11-01', n::text, 1 from client, generate_series(1, 4000) n`);
    await expect(record(first, one('supplier-client'))).rejects.toThrow('The clients of supplier-api use too many');
    await recordUse(customerApi, processOf('customer-api'), first, one('customer-client'));
  });

  test('is deleted after 400 days', async () => {
    await record(first, one('supplier-client'));
    await superuser.run(`
      update interface_use set day = day - 399;
      update use_counting set counted_from = now() - interval '401 days', counted_until = now() - interval '399 days'`);
    expect(await deleteOldUse(worker, 100)).toBe(0);
    await superuser.run(`
      update interface_use set day = day - 2;
      update use_counting set counted_until = now() - interval '401 days'`);
    expect(await deleteOldUse(worker, 100)).toBe(1);
    expect([await uses(), await periods()]).toEqual([[], []]);
  });
});

const workerRenders = (renders: unknown): string => JSON.stringify({ app: 'webhook-worker', renders });
const rendering = (...types: string[]): string => workerRenders(types.map((type) => ({ event: `${type}@2026-11-01` })));

async function runWorker(version: string, contracts: string): Promise<string> {
  await storeAppContracts(worker, 'webhook-worker', contracts);
  const digest = hash('sha256', contracts);
  await registerProcess(worker, { ...processOf('webhook-worker', digest), version });
  return digest;
}

describe('the workers that lack event types', () => {
  const vendor = ['vendor.updated', 'vendor.removed'];
  const lacking = (types: readonly string[] = vendor) => selectLackingWorkers(supplierApi, types);
  /** What an app of an earlier release waits for. */
  const without = async (): Promise<unknown> =>
    supplierApi.query({ name: 'without', text: 'select version from webhook_workers_without($1)' }, [vendor]);

  beforeEach(async () => {
    await superuser.run(`
      delete from webhook_worker;
      insert into webhook_worker (name, leased_until) values ('w', now() + interval '1 minute')`);
  });

  test('are known to an interface if another one renders one of its types', async () => {
    const digest = await runWorker('1.0.0', rendering('supplier.updated'));
    const old = { version: '1.0.0', digest, lacking: vendor.toSorted() };
    expect(await lacking()).toEqual([{ ...old, isKnown: false }]);
    expect(await without()).toEqual([{ version: '1.0.0' }]);
    const newer = await runWorker('1.1.0', rendering('supplier.updated', 'vendor.updated'));
    for (const store of [supplierApi, customerApi, admin])
      expect(await selectLackingWorkers(store, vendor)).toEqual([
        { ...old, isKnown: true },
        { version: '1.1.0', digest: newer, lacking: ['vendor.removed'], isKnown: true },
      ]);
    expect(await without()).toEqual([]);
    expect(await lacking(['supplier.updated'])).toEqual([]);
  });

  test('are known if what another one renders is not known', async () => {
    await runWorker('1.0.0', rendering('supplier.updated'));
    // From sources.
    await registerProcess(worker, processOf('webhook-worker'));
    expect(await lacking()).toMatchObject([{ version: '1.0.0', isKnown: true }]);
  });

  test('are none while no worker has a lease, and count for 150 seconds', async () => {
    await runWorker('1.0.0', rendering());
    for (const change of [
      `leased_until = now() - interval '1 second'`,
      `alive = false, leased_until = now() + interval '1 hour'`,
    ]) {
      await superuser.run(`update webhook_worker set ${change}`);
      expect([await lacking(), await without()]).toEqual([[], []]);
    }
    await superuser.run('update webhook_worker set alive = true');
    expect(await lacking()).toHaveLength(1);
    await superuser.run(`update app_process set last_seen_at = now() - interval '3 minutes'`);
    expect(await lacking()).toEqual([]);
  });

  test.each([
    ['a number', workerRenders(5)],
    ['null', workerRenders(null)],
    ['missing', workerRenders(undefined)],
    ['a scalar in a list', workerRenders([5, null, 'vendor.updated@2026-11-01', [], {}])],
    ['of another type', workerRenders([{ event: ['vendor.updated@2026-11-01'] }])],
    ['too long to be read by each check', workerRenders([{ event: 'vendor.updated@2026-11-01' }, 'x'.repeat(100_000)])],
    ['nested', `{"app": "webhook-worker", "renders": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ])('are those whose list is %s, which hides no other one', async (_, contracts) => {
    await runWorker('9.9.9', contracts);
    expect(await lacking()).toMatchObject([{ version: '9.9.9', isKnown: false }]);
    await runWorker('1.1.0', rendering(...vendor));
    expect(await lacking()).toMatchObject([{ version: '9.9.9', lacking: vendor.toSorted(), isKnown: true }]);
    expect(await without()).toEqual([]);
  });

  test('are those whose contracts are no JSON, which only the owner can write', async () => {
    const digest = await runWorker('9.9.9', rendering());
    await superuser.run(`update app_contracts set contracts = 'x' where digest = $1`, [digest]);
    expect(await lacking()).toMatchObject([{ version: '9.9.9', isKnown: false }]);
  });
});

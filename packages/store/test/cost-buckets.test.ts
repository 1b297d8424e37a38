import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { settleCostBucket, type CostSettlement } from '../src/accounts/cost-buckets.ts';
import { insertApiClient } from '../src/accounts/credentials.ts';
import { createStore } from '../src/index.ts';
import { createServiceDatabase } from './support/database.ts';
import { seedAccount } from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const open = async (role: 'supplier_api' | 'customer_api') =>
  createStore({ databaseUrl: await database.urlFor(role), applicationName: 'test' });
const supplierApi = await forFile(open('supplier_api'));
const otherSupplierApi = await forFile(open('supplier_api'));
const customerApi = await forFile(open('customer_api'));
const operator = createStore({ databaseUrl: await database.urlFor('operator'), applicationName: 'test' });
const { id: accountId, interfaceName } = await seedAccount(operator, 'supplier');
await insertApiClient(operator, { accountId, interfaceName, clientId: 'busy', schemaVersion: '2026-11-01' });
await operator.close();

/** The age is that of the last settlement by the clock of the server. */
async function setBucket(points: number, ageSeconds = 0): Promise<void> {
  await superuser.run(
    'update cost_bucket set points = $1, settled_at = clock_timestamp() - make_interval(secs => $2)',
    [points, ageSeconds],
  );
}

beforeEach(() => setBucket(2_000));

const nothing: CostSettlement = { change: 0, needed: 0, least: 0, spare: 0, elapsedSeconds: 0 };

async function settle(settlement: Partial<CostSettlement>, store = supplierApi) {
  return settleCostBucket(store, 'busy', { ...nothing, ...settlement });
}

test('a new client has a full bucket of 2,000 points', async () => {
  expect(await superuser.run('select points from cost_bucket')).toEqual([{ points: 2_000 }]);
  expect(await superuser.run('select cost_maximum, cost_restore_rate from api_client')).toEqual([
    { cost_maximum: 2_000, cost_restore_rate: 200 },
  ]);
});

test('grants every point once, whatever the number of processes that ask at the same time', async () => {
  const settlements = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      settle({ needed: 37, least: 37 }, index % 2 === 0 ? supplierApi : otherSupplierApi),
    ),
  );
  const granted = settlements.map((settlement) => settlement?.granted);
  expect(granted.filter((points) => points === 37)).toHaveLength(54);
  expect(granted.filter((points) => points === 0)).toHaveLength(46);
  expect(await superuser.run('select points from cost_bucket')).toEqual([{ points: 2_000 - 54 * 37 }]);
});

test('grants what is needed, and half of the rest to spare', async () => {
  expect(await settle({ needed: 1_000, least: 1_000, spare: 200 })).toMatchObject({ granted: 1_200, points: 800 });
  expect(await settle({ needed: 700, least: 700, spare: 200 })).toMatchObject({ granted: 750, points: 50 });
  expect(await settle({ needed: 60, least: 60, spare: 200 })).toMatchObject({ granted: 0, points: 50 });
  expect(await settle({ needed: 60, least: 20, spare: 200 })).toMatchObject({ granted: 50, points: 0 });
});

test('restores 200 points a second up to the size of the bucket', async () => {
  await setBucket(0, 3);
  expect((await settle({ elapsedSeconds: 60 }))?.points).toBeGreaterThanOrEqual(600);
  await setBucket(0, 60);
  expect(await settle({ elapsedSeconds: 60 })).toMatchObject({ granted: 0, points: 2_000 });
});

test('a step of the clock creates no points', async () => {
  await setBucket(100, 3_600); // the clock has been set forward by an hour
  expect(await settle({ elapsedSeconds: 2 })).toMatchObject({ granted: 0, points: 500 });
  await setBucket(100, -3_600); // the clock has been set back by an hour
  expect(await settle({ elapsedSeconds: 2 })).toMatchObject({ granted: 0, points: 100 });
  expect((await settle({ elapsedSeconds: 60 }))?.points).toBeLessThan(2_000); // restores again from now on
  expect(await superuser.run('select settled_at <= clock_timestamp() as past from cost_bucket')).toEqual([
    { past: true },
  ]);
});

test('adds what a process returns, and subtracts what it has spent in advance', async () => {
  await setBucket(100);
  expect(await settle({ change: 50 })).toMatchObject({ granted: 0, points: 150 });
  expect(await settle({ change: 5_000 })).toMatchObject({ granted: 0, points: 2_000 });
  expect(await settle({ change: -2_500, needed: 1, least: 1 })).toMatchObject({ granted: 0, points: -500 });
  expect(await settle({ change: -5_000, spare: 200 })).toMatchObject({ granted: 0, points: -2_000 });
});

test('a lowered limit applies to the next settlement', async () => {
  await superuser.run('update api_client set cost_maximum = 1000');
  try {
    expect(await settle({})).toMatchObject({ granted: 0, points: 1_000 });
  } finally {
    await superuser.run('update api_client set cost_maximum = 2000');
  }
});

test('an app settles only the buckets of its interface', async () => {
  expect(await settle({ needed: 10, least: 10 }, customerApi)).toBeNull();
});

const set = (change: string) =>
  supplierApi.query({ name: `set ${change}`, text: `update cost_bucket set ${change} returning points` }, []);

describe('a login of an interface', () => {
  test.each([
    `points = 'NaN'`,
    `points = 'infinity'`,
    'points = 1e9 + 1',
    `settled_at = 'infinity'`,
    `settled_at = '-infinity'`,
  ])('cannot set %s', async (change) => {
    await expect(set(change)).rejects.toThrow('_bounds');
  });

  test.each([`'-infinity'`, '-1e9', '-2001'])(
    'writes a debt of %s as that of the size of the bucket',
    async (points) => {
      expect(await set(`points = ${points}`)).toEqual([{ points: -2_000 }]);
      expect(await settle({ change: 2_500 })).toMatchObject({ granted: 0, points: 500 });
    },
  );

  test('writes a smaller debt as it is', async () => {
    expect(await set('points = -1999.5')).toEqual([{ points: -1_999.5 }]);
  });
});

import { testService } from '@deedwire/core/test-service';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { connect } from '@deedwire/testing';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations, migrate, readMigrations } from '../src/index.ts';

// Before 0067, only the apps of the law firm exist, whose roles the migrations create.
test('periods keep their coordinates, each set once, and the newest 8 MB of an app, while APIs count', async () => {
  const own = await createTestDatabase({ template: 'empty', prepare: async () => {} });
  const migrations = await readMigrations();
  const applyBefore = (next: string) =>
    applyMigrations(
      own.databaseUrl,
      migrations.filter(({ name }) => name < next),
      {},
    );
  await applyBefore('0067');
  const owner = await connect(own.databaseUrl);
  onTestFinished(async () => {
    await owner.close();
    await own.drop();
  });
  await owner.run(`
    insert into use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
    select app, gen_random_uuid(), coordinates, t, t, t, t, 'ENDED'
    from (
      select 'lender-api' as app, '2026-11-01 Query.old' as coordinates, now() as t from generate_series(1, 5)
      union all
      select 'partner-api', n || repeat('x', 95000), now() - n * interval '1 hour' from generate_series(1, 100) n
    ) p`);
  const api = await connect(await own.urlFor('lender_api'));
  onTestFinished(() => api.close());
  const [one, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  const count = (id: string | undefined, coordinates: string) =>
    api.run(`select record_use('lender-api', $1, 0, false, false, $2, '{}', '{}', '{}', '{}')`, [id, coordinates]);
  await count(one, '2026-11-01 Query.of_one');
  await applyBefore('0068');
  await count(one, '2026-11-01 Query.of_one');
  await count(other, '2026-11-01 Query.old');
  await migrate(own.databaseUrl, testService);
  await count(one, '2026-11-01 Query.of_one');

  const periods = await owner.run(`
    select u.app, u.state, u.coordinates as old, left(c.coordinates, 23) as coordinates, count(*)::int
    from use_counting u left join counted_coordinates c on c.id = u.coordinates_id and c.app = u.app
    where u.app = 'lender-api' or u.coordinates_id is null
    group by 1, 2, 3, 4 order by 1, 2, 4`);
  expect(periods).toEqual([
    { app: 'lender-api', state: 'ENDED', old: '', coordinates: '2026-11-01 Query.old', count: 5 },
    { app: 'lender-api', state: 'OPEN', old: '', coordinates: '2026-11-01 Query.of_one', count: 1 },
    { app: 'lender-api', state: 'OPEN', old: '', coordinates: '2026-11-01 Query.old', count: 1 },
    { app: 'partner-api', state: 'ENDED', old: '', coordinates: null, count: 16 },
  ]);
  const [refused] = await owner.run(`
    select bool_and(counted_until < now() - interval '84 hours') as are_oldest from use_counting where coordinates_id is null`);
  expect(refused).toEqual({ are_oldest: true });
});

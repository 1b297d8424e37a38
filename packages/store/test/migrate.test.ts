import net from 'node:net';
import { testService } from '@deedwire/core/test-service';
import { createTestDatabase, type TestDatabase } from '@deedwire/embedded-postgres';
import { connect, eventually, listen, type Connection } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  CellMismatchError,
  describeDatabaseProblems,
  migrate,
  MigrationBlockedError,
  MigrationChangedError,
  MigrationMissingError,
  type MigrationWait,
  StoreUnavailableError,
} from '../src/index.ts';
import { compareMigrations } from '../src/migrations/compare-migrations.ts';
import { applyMigrations } from '../src/migrations/migrate.ts';
import { readMigrations } from '../src/migrations/read-migrations.ts';
import { createServiceDatabase, withStore } from './support/database.ts';

const migrations = await readMigrations();
const namesOf = (found: readonly { name: string }[]) => found.map(({ name }) => name);
/** What an older database has of them, and what a new one gets. */
const chain = migrations.filter(({ isBaseline }) => !isBaseline);
const ofNewDatabase = namesOf(migrations.slice(migrations.findLastIndex(({ isBaseline }) => isBaseline)));

let database: TestDatabase;
let connection: Connection;

async function use(created: TestDatabase): Promise<void> {
  database = created;
  connection = await connect(database.databaseUrl);
}

afterEach(async () => {
  await connection.close();
  await database.drop();
});

const pending = async () => {
  const [table] = await connection.run(`select to_regclass('schema_migration') is not null as "exists"`);
  const applied = table?.['exists'] === true ? await connection.run('select name, checksum from schema_migration') : [];
  const named = applied.map(({ name, checksum }) => ({ name: String(name), checksum: String(checksum) }));
  return (await compareMigrations(named)).pending;
};
const problems = (databaseUrl = database.databaseUrl) =>
  withStore(databaseUrl, (store) => describeDatabaseProblems(store, testService, 'webhook_worker'));

/** A session that holds a lock. */
const idle = (applicationName: string) => ({
  pid: expect.any(Number),
  login: 'postgres',
  applicationName,
  state: 'idle in transaction',
  seconds: expect.any(Number),
});

/** A pooler that serves the first connections, and accepts the others without an answer. */
async function startFullPooler(served: number) {
  const { hostname, port } = new URL(database.databaseUrl);
  const pooler = net.createServer((client) => {
    // The list has it after this function.
    if (accepted.length >= served) return void client.resume();
    const upstream = net.connect(Number(port), hostname).on('error', () => {});
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
  });
  const { connections: accepted, ...listening } = await listen(pooler);
  onTestFinished(() => listening.close());
  const url = new URL(database.databaseUrl);
  url.host = `127.0.0.1:${listening.port}`;
  return { url: url.href, accepted };
}

const stateOfIndex = async () => {
  const [row] = await connection.run(
    `select indisvalid as valid, indexrelid::text as id from pg_index where indexrelid = to_regclass('account_by_name')`,
  );
  return row ?? null;
};

const createPartition = (number: number): string =>
  `create table event_${number} partition of event for values from (${number}0) to (${number}9)`;
/** By the name of the table. */
const indexesOfEvent = async () =>
  connection.run(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as index, indisvalid as valid
     from pg_index where indrelid in (select relid from pg_partition_tree('event')) order by 1`,
  );
const indexedPartitions = (...numbers: number[]) => [
  { table: 'event', index: 'event_by_name', valid: true },
  ...numbers.map((number) => ({ table: `event_${number}`, index: `event_by_name_${number}`, valid: true })),
];

/** Runs `work` while a transaction that has written a table is open. */
async function whileATransactionIsOpen(
  work: (writer: Connection) => Promise<void>,
  insert = `insert into account values ('Grace')`,
): Promise<void> {
  const writer = await connect(database.databaseUrl);
  await writer.run(`begin; ${insert}`);
  await work(writer);
  await writer.close();
}

describe('a migrated database', () => {
  beforeEach(async () => use(await createServiceDatabase()));

  test('rejects a database with a migration of another form', async () => {
    await connection.run(`update schema_migration set checksum = 'other' where name = $1`, [ofNewDatabase[0]]);
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(MigrationChangedError);
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(
      `Migration ${ofNewDatabase[0]} was applied to the database`,
    );
    await expect(pending()).rejects.toThrow(MigrationChangedError);
    expect(await problems()).toEqual([expect.stringContaining('before the first public release')]);
  });

  test('rejects a database that began with the baseline of a later build', async () => {
    await connection.run(`delete from schema_migration; insert into schema_migration values ('9999-later', 'x')`);
    const message =
      'The database began with 9999-later, which this build does not know. Use the build that made the database, or a later one.';
    await expect(migrate(database.databaseUrl, testService)).rejects.toThrow(
      new MigrationMissingError('all', '9999-later'),
    );
    await expect(pending()).rejects.toThrow(message);
    expect(await problems()).toEqual([message]);
  });

  test('accepts migrations of a later build', async () => {
    await connection.run(`insert into schema_migration (name, checksum) values ('9999-later', 'x')`);
    expect(await pending()).toEqual([]);
    expect(await migrate(database.databaseUrl, testService)).toMatchObject({ applied: [] });
    expect(await problems()).toEqual([]);
  });

  test('names the migration after which this build no longer works', async () => {
    const last = ofNewDatabase.at(-1)?.slice(0, 4) ?? '';
    await connection.run(`insert into schema_migration (name, checksum) values ($1, 'x')`, [`9998-drop-needs-${last}`]);
    expect(await problems(await database.urlFor('webhook_worker'))).toEqual([]);
    await connection.run(`insert into schema_migration (name, checksum) values ('9999-drop-needs-9998', 'x')`);
    const tooOld =
      'this build is too old for the database, to which 9999-drop-needs-9998 was applied; deploy a later release';
    expect(await problems()).toEqual([tooOld]);
    expect(await problems(await database.urlFor('webhook_worker'))).toEqual([tooOld]);
  });
});

describe('an empty database', () => {
  beforeEach(async () => use(await createTestDatabase({ template: 'empty', prepare: async () => {} })));

  test('has pending migrations until 20 processes apply each once at the same time, and then a cell and its own seed', async () => {
    expect(await problems('postgres://nobody@127.0.0.1:1/none')).toEqual([
      'the database is not available: ECONNREFUSED',
    ]);
    expect(await problems()).toEqual([
      `the database lacks migrations: ${ofNewDatabase.join(', ')}; run: deedwire-operator database migrate`,
    ]);
    expect(await pending()).toEqual(ofNewDatabase);
    const migrating = Array.from({ length: 20 }, () => migrate(database.databaseUrl, testService, { cell: 1023 }));
    const results = await Promise.all(migrating);
    expect(results.flatMap(({ applied }) => applied).toSorted()).toEqual(ofNewDatabase);
    expect(await connection.run('select count(*)::int as count from schema_migration')).toEqual([
      { count: ofNewDatabase.length },
    ]);
    expect(await pending()).toEqual([]);
    expect(await problems()).toEqual([]);
    expect(await problems(await database.urlFor('webhook_worker'))).toEqual([]);

    await expect(migrate(database.databaseUrl, testService, { cell: 8 })).rejects.toThrow(CellMismatchError);
    await expect(migrate(database.databaseUrl, testService, { cell: 0 })).rejects.toThrow(
      'The database has cell 1023, not 0. The ids of its records contain the cell, so it cannot change. ' +
        'Omit the cell, or use an empty database for cell 0.',
    );
    for (const options of [{ cell: 1023 }, {}])
      expect(await migrate(database.databaseUrl, testService, options)).toMatchObject({ applied: [] });
    const [own] = await connection.run('select (new_record_id() >> 12) & 1023 as cell, id_seed from installation');
    expect(Number(own?.['cell'])).toBe(1023);
    const other = await createServiceDatabase();
    const superuser = await connect(other.databaseUrl);
    const [first] = await superuser.run('select cell, id_seed from installation');
    expect(first?.['cell']).toBe(0);
    expect(first?.['id_seed']).not.toEqual(own?.['id_seed']);
    await superuser.close();
    await other.drop();
  });

  test('rejects a cell that is no number from 0 to 1023', async () => {
    for (const cell of [-1, 1024, 1.5])
      await expect(migrate(database.databaseUrl, testService, { cell })).rejects.toThrow(
        /check constraint|invalid input syntax/,
      );
    expect(await pending()).toEqual(ofNewDatabase);
  });

  test('rolls back a migration that fails, rejects another cell, and applies it in the next run', async () => {
    const migrateTo = (cell: number) => applyMigrations(database.databaseUrl, chain.slice(0, 2), { cell });
    await connection.run('create table webhook_shard (in_the_way int)');
    await expect(migrateTo(7)).rejects.toThrow('"webhook_shard" already exists');
    expect(await pending()).toEqual(namesOf(chain).slice(1));
    expect(await connection.run(`select to_regclass('webhook_subscription') as there`)).toEqual([{ there: null }]);
    await connection.run('drop table webhook_shard');
    await expect(migrateTo(8)).rejects.toThrow(CellMismatchError);
    expect(await pending()).toEqual(namesOf(chain).slice(1));
    expect(await migrateTo(7)).toMatchObject({ applied: ['0002-webhooks'] });
  });

  const buildsIndex =
    '-- no transaction\ncreate index concurrently if not exists account_by_name\n  on account (name);\n';
  const addIndex = [{ name: '0001-index', checksum: 'x', sql: buildsIndex }];

  const addColumn = [{ name: '0001-column', checksum: 'x', sql: 'alter table account add column nickname text' }];

  test('waits for a lock in short tries, names its holder, and applies the migration once the lock is released', async () => {
    await connection.run(`set application_name = 'dump'; create table account ()`);
    await connection.run('begin; select from account');
    const waits: MigrationWait[] = [];
    const migrating = applyMigrations(database.databaseUrl, addColumn, {
      onWait: (wait) => {
        waits.push(wait);
        if (waits.length === 2) void connection.run('commit');
      },
    });
    expect(await migrating).toMatchObject({ applied: ['0001-column'] });
    expect(waits[0]).toEqual({
      migration: '0001-column',
      holders: [idle('dump')],
    });
  });

  test('gives up after the time that the caller allows, and applies nothing of the migration', async () => {
    await connection.run('create table account ()');
    await connection.run('begin; select from account');
    // On a busy machine, the connection that looks for the holder can open later than the first tries end.
    await expect(applyMigrations(database.databaseUrl, addColumn, { waitMs: 5_000 })).rejects.toThrow(
      /^Migration 0001-column waits for sessions: \d+ \(postgres, idle in transaction, for \d+ s\)\. Nothing of the migration was applied\./,
    );
    await connection.run('commit');
    expect(await connection.run(`select to_regclass('schema_migration') as there`)).toEqual([{ there: null }]);
  });

  test('ends once the lock is released although a pooler never serves the connection that looks for its holder', async () => {
    await connection.run('create table account ()');
    await connection.run('begin; select from account');
    const pooler = await startFullPooler(1);
    const migrating = applyMigrations(pooler.url, addColumn, {});
    await eventually(() => expect(pooler.accepted).toHaveLength(2));
    await connection.run('commit');
    expect(await migrating).toMatchObject({ applied: ['0001-column'] });
    await eventually(() => expect(pooler.accepted.map(({ destroyed }) => destroyed)).not.toContain(false));
  });

  test('gives up when a pooler never serves a connection that it needs', async () => {
    await connection.run('create table account (name text)');
    const poolers = await Promise.all([startFullPooler(0), startFullPooler(1)]);
    const gaveUp = poolers.map(({ url }) =>
      expect(applyMigrations(url, addIndex, {})).rejects.toThrow(
        new StoreUnavailableError(new Error('timeout expired')),
      ),
    );
    await Promise.all(gaveUp);
  });

  describe('a migration without a transaction', () => {
    beforeEach(async () => {
      await connection.run(`create table account (name text); insert into account values ('Ada')`);
    });

    test('builds an index while rows are inserted, and names the transaction that it waits for', async () => {
      await whileATransactionIsOpen(async (writer) => {
        const waits: MigrationWait[] = [];
        const migrating = applyMigrations(database.databaseUrl, addIndex, {
          onWait: (wait) => {
            waits.push(wait);
            // PostgreSQL ends an insert that waits for the index.
            const inserted = connection.run(`set lock_timeout = '100ms'; insert into account values ('Edsger')`);
            void inserted.then(() => writer.run('commit'));
          },
        });
        expect(await migrating).toMatchObject({ applied: ['0001-index'] });
        expect(waits[0]).toEqual({
          migration: '0001-index',
          holders: [idle('')],
        });
      });
      expect(await stateOfIndex()).toMatchObject({ valid: true });
      await connection.run('set enable_seqscan = off');
      expect(await connection.run(`select name from account where name = 'Edsger'`)).toEqual([{ name: 'Edsger' }]);
    });

    test('gives up after the time that the caller allows, and builds the index again in the next run', async () => {
      await whileATransactionIsOpen(async () => {
        await expect(applyMigrations(database.databaseUrl, addIndex, { waitMs: 0 })).rejects.toThrow(
          MigrationBlockedError,
        );
      });
      const interrupted = await stateOfIndex();
      expect(interrupted).toMatchObject({ valid: false });
      expect(await applyMigrations(database.databaseUrl, addIndex, {})).toMatchObject({ applied: ['0001-index'] });
      expect(await stateOfIndex()).toMatchObject({ valid: true });
      expect(await stateOfIndex()).not.toEqual(interrupted);
    });

    test('builds an index again whose session was ended', async () => {
      await whileATransactionIsOpen(async () => {
        const migrating = applyMigrations(database.databaseUrl, addIndex, {
          onWait: () =>
            void connection.run(`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'deedwire-migrate' and query like '%create index%'`),
        });
        await expect(migrating).rejects.toThrow(StoreUnavailableError);
      });
      expect(await stateOfIndex()).toMatchObject({ valid: false });
      expect(await applyMigrations(database.databaseUrl, addIndex, {})).toMatchObject({ applied: ['0001-index'] });
      expect(await stateOfIndex()).toMatchObject({ valid: true });
    });

    test('builds an index once when 5 processes migrate at the same time', async () => {
      await whileATransactionIsOpen(async (writer) => {
        const waiting = new Set<number>();
        const migrating = Array.from({ length: 5 }, (_, process) =>
          applyMigrations(database.databaseUrl, addIndex, {
            onWait: () => {
              waiting.add(process);
              if (waiting.size === 5) void writer.run('commit');
            },
          }),
        );
        const results = await Promise.all(migrating);
        expect(results.flatMap(({ applied }) => applied)).toEqual(['0001-index']);
      });
      expect(await stateOfIndex()).toMatchObject({ valid: true });
    });

    test('keeps an index that is complete', async () => {
      await connection.run('create index account_by_name on account (name)');
      const complete = await stateOfIndex();
      expect(await applyMigrations(database.databaseUrl, addIndex, {})).toMatchObject({ applied: ['0001-index'] });
      expect(await stateOfIndex()).toEqual(complete);
    });

    describe('of a partitioned table', () => {
      const addToAll = [
        {
          name: '0001-index',
          checksum: 'x',
          sql: '-- no transaction\ncreate index concurrently if not exists event_by_name on event (name)\n  where name is not null;\n',
        },
      ];
      beforeEach(async () => {
        await connection.run('create table event (id int, name text) partition by range (id)');
        for (const number of [1, 2, 3]) await connection.run(createPartition(number));
        await connection.run(`insert into event values (10, 'Ada'), (20, 'Grace')`);
      });

      test('builds an index on each partition while rows are inserted, including on one that is attached meanwhile', async () => {
        const writer = await connect(database.databaseUrl);
        // The build on the second partition waits for this transaction.
        await writer.run(`begin; insert into event_2 values (21, 'Barbara')`);
        let meanwhile: Promise<unknown> | undefined;
        const migrating = applyMigrations(database.databaseUrl, addToAll, {
          onWait: () => {
            meanwhile ??= connection
              .run(
                `set lock_timeout = '100ms'; insert into event values (11, 'Edsger'), (22, 'Tony');
                 create table event_4 (id int, name text); alter table event attach partition event_4 for values from (40) to (49);
                 insert into event values (40, 'Donald')`,
              )
              .then(() => writer.run('commit'));
          },
        });
        expect(await migrating).toMatchObject({ applied: ['0001-index'] });
        await meanwhile;
        await writer.close();
        expect(await indexesOfEvent()).toEqual([
          ...indexedPartitions(1, 2, 3),
          { table: 'event_4', index: 'event_4_name_idx', valid: true },
        ]);
        await connection.run('set enable_seqscan = off');
        const plan = await connection.run(`explain select from event where name = 'Donald'`);
        expect(JSON.stringify(plan)).toMatch(/event_by_name_1.*event_by_name_2.*event_4_name_idx/);
        expect(
          await connection.run(
            `select id from event where name in ('Barbara', 'Edsger', 'Tony', 'Donald') order by id`,
          ),
        ).toEqual([11, 21, 22, 40].map((id) => ({ id })));
      });

      test('continues after an interruption with the partition whose index is not complete', async () => {
        const insert = `insert into event_2 values (21, 'Barbara')`;
        await whileATransactionIsOpen(async () => {
          await expect(applyMigrations(database.databaseUrl, addToAll, { waitMs: 0 })).rejects.toThrow(
            MigrationBlockedError,
          );
        }, insert);
        expect(await indexesOfEvent()).toMatchObject([
          { index: 'event_by_name', valid: false },
          { index: 'event_by_name_1', valid: true },
          { index: 'event_by_name_2', valid: false },
        ]);
        expect(await applyMigrations(database.databaseUrl, addToAll, {})).toMatchObject({ applied: ['0001-index'] });
        expect(await indexesOfEvent()).toEqual(indexedPartitions(1, 2, 3));
      });

      test('goes on if a partition is dropped before its index is built', async () => {
        const retention = await connect(database.databaseUrl);
        await retention.run('begin; lock table event_2 in access exclusive mode');
        let dropping: Promise<unknown> | undefined;
        const migrating = applyMigrations(database.databaseUrl, addToAll, {
          onWait: () => {
            dropping ??= retention.run('drop table event_2; commit');
          },
        });
        expect(await migrating).toMatchObject({ applied: ['0001-index'] });
        await dropping;
        await retention.close();
        expect(await indexesOfEvent()).toEqual(indexedPartitions(1, 3));
      });

      test('waits in short tries for what has written the table, so that others write it', async () => {
        const writer = await connect(database.databaseUrl);
        await writer.run(`begin; insert into event values (21, 'Barbara')`);
        let waits = 0;
        const migrating = applyMigrations(database.databaseUrl, addToAll, {
          onWait: () => {
            waits += 1;
            // Waits behind the try, and not for the transaction.
            if (waits === 1)
              void connection
                .run(`set lock_timeout = '5s'; insert into event values (11, 'Edsger')`)
                .then(() => writer.run('commit'));
          },
        });
        expect(await migrating).toMatchObject({ applied: ['0001-index'] });
        await writer.close();
        expect(await indexesOfEvent()).toEqual(indexedPartitions(1, 2, 3));
      });
    });

    test('rejects a statement that cannot be repeated', async () => {
      for (const statement of [
        'create index account_by_name on account (name);',
        'create index concurrently account_by_name on account (name);',
        'create index concurrently if not exists account_by_name on account (name); select 1;',
        'alter table account add column nickname text;',
      ]) {
        const migration = { name: '0001-other', checksum: 'x', sql: `-- no transaction\n${statement}\n` };
        await expect(applyMigrations(database.databaseUrl, [migration], {})).rejects.toThrow(
          'Migration 0001-other runs without a transaction, so it must be one statement',
        );
      }
      expect(await connection.run(`select to_regclass('schema_migration') as there`)).toEqual([{ there: null }]);
    });
  });
});

test('throws StoreUnavailableError when the database is unavailable', async () => {
  await expect(migrate('postgres://nobody@127.0.0.1:1/none', testService)).rejects.toThrow(StoreUnavailableError);
});

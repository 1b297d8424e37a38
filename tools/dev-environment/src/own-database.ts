import { randomUUID } from 'node:crypto';
import { createStore, type Store } from '@deedwire/store';
import type { DatabaseState } from './dev-state.ts';
import { CannotStartError, type Home } from './home.ts';
import { generateSecretKeys } from './start-system.ts';

/**
 * The state that this home keeps about a database. An empty database is marked as this home's.
 *
 * @throws {CannotStartError} for a database that holds anything and does not carry a mark of this home
 */
export async function claimDatabase(databaseUrl: string, home: Home): Promise<DatabaseState> {
  const store = createStore({ databaseUrl, applicationName: 'deedwire-dev' });
  try {
    const mark = await readMark(store);
    const known = mark === null ? undefined : home.state.databases[mark];
    if (known) return known;
    if (await holdsAnything(store)) {
      throw new CannotStartError(
        'DATABASE_URL names a database that holds something and that `pnpm dev` did not make from this home. Name an empty one.',
      );
    }
    return await markDatabase(store, home);
  } finally {
    await store.close();
  }
}

async function readMark(store: Store): Promise<string | null> {
  const [found] = await store.query<{ exists: boolean }>(
    { name: 'dev-has-mark', text: `select to_regclass('deedwire_dev.mark') is not null as exists` },
    [],
  );
  if (!found?.exists) return null;
  const [row] = await store.query<{ mark: string }>(
    { name: 'dev-mark', text: 'select mark from deedwire_dev.mark' },
    [],
  );
  return row?.mark ?? null;
}

async function holdsAnything(store: Store): Promise<boolean> {
  // What extensions brought along does not count: a hosting provider's new database has some.
  const [row] = await store.query<{ something: boolean }>(
    {
      name: 'dev-holds-anything',
      text: `
        select exists (
          select from pg_class c
          join pg_namespace n on n.oid = c.relnamespace
          where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
            and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
        ) as something`,
    },
    [],
  );
  return row?.something ?? true;
}

/** The state is saved first: a mark that no home knows would lock its own maker out. */
async function markDatabase(store: Store, home: Home): Promise<DatabaseState> {
  const mark = randomUUID();
  const state: DatabaseState = { webhookSecretKeys: generateSecretKeys(), seed: null };
  home.state.databases[mark] = state;
  await home.saveState();
  await store.transaction(async (transaction) => {
    await transaction.query({ name: 'dev-create-schema', text: 'create schema deedwire_dev' }, []);
    await transaction.query(
      { name: 'dev-create-mark', text: 'create table deedwire_dev.mark (mark text not null)' },
      [],
    );
    await transaction.query({ name: 'dev-insert-mark', text: 'insert into deedwire_dev.mark values ($1)' }, [mark]);
  });
  return state;
}

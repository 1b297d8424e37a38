import { type InterfaceName, roleOf } from '@deedwire/core';
import type { Connection } from '@deedwire/testing';

/** A value of a length, and whether the code accepts it. */
export interface Length {
  max: number;
  value?: (length: number) => unknown;
  /** Undefined if the code does not bound what it writes. */
  accepts?: (text: string) => boolean;
}

/** The first and the last value that are accepted, and those that are not. */
export interface Range {
  accepted: readonly unknown[];
  refused: readonly unknown[];
}

export const letters = (length: number): string => 'a'.repeat(length);
export const email = (length: number): string => `${letters(length - 4)}@a.b`;

/** Constraints of several columns of which each is bounded for itself. */
const ofSeveral = ['audit_entry_is_readable', 'webhook_event_is_readable'];

/** What the database of a service with these interfaces accepts in the columns that a login of an app could fill. */
export function columnBounds(superuser: Pick<Connection, 'run'>, interfaceNames: readonly InterfaceName[]) {
  const writers = [...interfaceNames.map(roleOf), 'operator'].map((role) => `'${role}'`).join();

  /** The columns that an app may write, apart from the worker. */
  const writtenColumns = (isWanted: string): Promise<string[]> =>
    columns(`(
        has_column_privilege(writer, c.oid, a.attnum, 'insert') or has_column_privilege(writer, c.oid, a.attnum, 'update')
      ) and ${isWanted}`);

  /** Those that another app may read. Interfaces cannot read each other's rows. */
  const sharedColumns = (isWanted: string): Promise<string[]> =>
    writtenColumns(`${isWanted} and exists (
        select from unnest(array[${writers}, 'webhook_worker']) as reader
        where reader <> writer and not (reader like '%api' and writer like '%api')
          and has_column_privilege(reader, c.oid, a.attnum, 'select')
      )`);

  async function columns(areWanted: string): Promise<string[]> {
    const rows = await superuser.run(
      `select distinct c.relname || '.' || a.attname as name
       from unnest(array[${writers}]) as writer
       join pg_class c on c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       where ${areWanted}
       order by 1`,
    );
    return rows.map(({ name }) => String(name));
  }

  /** Whether the checks of a column let a value pass. They do not see the other columns. */
  async function accepts(name: string, value: unknown): Promise<boolean> {
    const [table = '', column = ''] = name.split('.');
    await superuser.run(`begin; create temporary table probe on commit drop as select * from ${table} limit 0`);
    try {
      for (const { definition } of await superuser.run(
        `select pg_get_constraintdef(oid) as definition from pg_constraint
         where conrelid = $1::regclass and contype = 'c' and (cardinality(conkey) = 1 or conname = any ($2))`,
        [table, ofSeveral],
      ))
        await superuser.run(`alter table probe add ${String(definition).replace(' NOT VALID', '')}`);
      await superuser.run(`insert into probe (${column}) values ($1)`, [value]);
      return true;
    } catch (error) {
      if (error instanceof Error && error.message.includes('violates check constraint')) return false;
      throw error;
    } finally {
      await superuser.run('rollback');
    }
  }

  async function acceptedOf(name: string, values: readonly unknown[]): Promise<unknown[]> {
    const accepted: unknown[] = [];
    for (const value of values) if (await accepts(name, value)) accepted.push(value);
    return accepted;
  }

  return { writtenColumns, sharedColumns, accepts, acceptedOf };
}

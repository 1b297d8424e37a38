import { LockTimeoutError, toStoreError } from '../kernel/errors.ts';
import { callFunction } from '../statements/call-function.ts';
import type { Database } from '../statements/database.ts';

/** A table, or a partition of one, that has rows of accounts. */
export interface ForeignTable {
  name: string;
  /** The table itself, or the one that it is a partition of. */
  root: string;
  /** The partition can be dropped if these have no row that stays. Null: it cannot. */
  needed: string[] | null;
}

/** The results of the functions of migration 0063. */
interface Results {
  check_foreign_partition: boolean | null;
  delete_foreign_rows: { deleted: number; kept: string[]; pages: number } | null;
  drop_foreign_partition: boolean;
  foreign_bytes: { cell: number | null; root: string; bytes: number };
  foreign_tables: ForeignTable;
}

/** Calls one of these functions. Returns its rows, or null if it waited too long for a lock. */
export async function callPruning<Name extends keyof Results>(
  database: Database,
  name: Name,
  ...values: readonly (number | string)[]
): Promise<Results[Name][] | null> {
  try {
    return await callFunction(database, name, values, true);
  } catch (error) {
    if (toStoreError(error) instanceof LockTimeoutError) return null;
    throw error;
  }
}

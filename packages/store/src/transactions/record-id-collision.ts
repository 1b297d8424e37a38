import { DatabaseError } from 'pg';

const uniqueViolation = '23505';

// The tables of the platform whose ids the database draws with new_record_id(). A test compares them with the database.
const ownTables = [
  'account',
  'api_client',
  'contact_confirmation',
  'contact_email',
  'contact_mail',
  'organization',
  'portal_session',
  'webhook_delivery',
  'webhook_event',
  'webhook_replay',
  'webhook_subscription',
];

/** The primary keys of all tables whose ids the database draws. */
export type DrawnKeys = ReadonlySet<string>;

export function drawnKeys(tablesOfApplication: readonly string[] = []): DrawnKeys {
  return new Set([...ownTables, ...tablesOfApplication].map((table) => `${table}_pkey`));
}

// `webhook_event_20261101_pkey` is the primary key of a partition of `webhook_event`.
const dayOfPartition = /_\d{8}(?=_pkey$)/;

// Each attempt draws another id in a later millisecond.
export const recordIdAttemptsMax = 5;

/** Returns true if an insert failed because another record already has the id that was drawn for it. */
export function isRecordIdCollision(error: unknown, keys: DrawnKeys): boolean {
  return keys.has(violatedConstraint(error) ?? '');
}

/** Returns true if an insert failed because the table, or a partition of it, has a row with this primary key. */
export function violatesPrimaryKey(error: unknown, table: string): boolean {
  return violatedConstraint(error) === `${table}_pkey`;
}

/** The unique constraint that a statement violated. That of a partition has the name of the whole table. */
function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError) || error.code !== uniqueViolation) return undefined;
  return error.constraint?.replace(dayOfPartition, '');
}

/**
 * Runs `work` again, at most 5 times in all, if it drew an id that another record already has. That happens after the clock of
 * the database server was set back. `work` must have been rolled back when it fails.
 */
export function retryRecordIdCollisions<Result>(work: () => Promise<Result>, keys: DrawnKeys): Promise<Result> {
  return attemptAgain(work, keys, recordIdAttemptsMax);
}

function attemptAgain<Result>(work: () => Promise<Result>, keys: DrawnKeys, attempts: number): Promise<Result> {
  return work().catch((error: unknown) => {
    if (attempts === 1 || !isRecordIdCollision(error, keys)) throw error;
    return attemptAgain(work, keys, attempts - 1);
  });
}

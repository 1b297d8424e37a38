import { DatabaseError } from 'pg';

const uniqueViolation = '23505';

// The primary keys whose ids the database draws with new_record_id(). A test compares them with the database.
const recordIdConstraints = new Set([
  'account_pkey',
  'api_client_pkey',
  'matter_pkey',
  'organization_pkey',
  'portal_session_pkey',
  'referral_pkey',
  'team_member_pkey',
  'webhook_delivery_pkey',
  'webhook_event_pkey',
  'webhook_replay_pkey',
  'webhook_subscription_pkey',
]);

// `webhook_event_20261101_pkey` is the primary key of a partition of `webhook_event`.
const dayOfPartition = /_\d{8}(?=_pkey$)/;

// Each attempt draws another id in a later millisecond.
export const recordIdAttemptsMax = 5;

/** Returns true if an insert failed because another record already has the id that was drawn for it. */
export function isRecordIdCollision(error: unknown): boolean {
  return recordIdConstraints.has(violatedConstraint(error) ?? '');
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
export function retryRecordIdCollisions<Result>(work: () => Promise<Result>): Promise<Result> {
  return attemptAgain(work, recordIdAttemptsMax);
}

function attemptAgain<Result>(work: () => Promise<Result>, attempts: number): Promise<Result> {
  return work().catch((error: unknown) => {
    if (attempts === 1 || !isRecordIdCollision(error)) throw error;
    return attemptAgain(work, attempts - 1);
  });
}

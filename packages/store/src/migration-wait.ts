/** Why a migration waits. */
export interface MigrationWait {
  /** Null if the migration is not known yet: another process migrates, or holds the list of migrations. */
  migration: string | null;
  /** The transactions of other sessions that hold locks on tables of this schema, oldest first, at most 5. */
  holders: readonly LockHolder[];
}

export interface LockHolder {
  pid: number;
  login: string;
  applicationName: string;
  /** The age of its transaction in whole seconds. Null if the login of the migration may not see it. */
  seconds: number | null;
}

/** One sentence without a period, for an operator. */
export function describeWait({ migration, holders }: MigrationWait): string {
  const waiting = migration === null ? 'The list of migrations' : `Migration ${migration}`;
  if (holders.length === 0) return `${waiting} waits for a lock`;
  const sessions = holders.map(({ pid, login, applicationName, seconds }) => {
    const name = applicationName === '' ? login : `${applicationName}, ${login}`;
    return `${pid} (${name}${seconds === null ? '' : `, for ${seconds} s`})`;
  });
  return `${waiting} waits for a lock. Sessions with locks: ${sessions.join(', ')}`;
}

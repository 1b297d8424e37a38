/** Why a migration waits. */
export interface MigrationWait {
  /** Null if the migration is not known yet: another process migrates, or holds the list of migrations. */
  migration: string | null;
  /** The sessions whose locks or snapshots it waits for, oldest transaction first, at most 5. */
  holders: readonly LockHolder[];
}

export interface LockHolder {
  /** 0: a transaction that was prepared for a two-phase commit. */
  pid: number;
  login: string;
  /** What a process of the server does, if it has no application. */
  applicationName: string;
  /** For example `idle in transaction`. Null if the login of the migration may not see it. */
  state: string | null;
  /** The age of its transaction in whole seconds. Null if the login of the migration may not see it. */
  seconds: number | null;
}

/** One sentence without a period, for an operator. */
export function describeWait({ migration, holders }: MigrationWait): string {
  const waiting = migration === null ? 'The list of migrations' : `Migration ${migration}`;
  if (holders.length === 0) return `${waiting} waits for a lock`;
  const sessions = holders.map(({ pid, login, applicationName, state, seconds }) => {
    if (pid === 0) return 'a prepared transaction (see pg_prepared_xacts)';
    const facts = [applicationName, login, state ?? '', seconds === null ? '' : `for ${seconds} s`];
    return `${pid} (${facts.filter((fact) => fact !== '').join(', ')})`;
  });
  return `${waiting} waits for sessions: ${sessions.join(', ')}`;
}

/** Describes each new reason for which migrations wait. */
export function onNewWait(report: (sentence: string) => void): (wait: MigrationWait) => void {
  let reported = '';
  return (wait) => {
    const cause = `${wait.migration} ${wait.holders.map(({ pid }) => pid).join()}`;
    if (cause !== reported) report(`${describeWait(wait)}.`);
    reported = cause;
  };
}

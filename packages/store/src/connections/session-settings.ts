/** Settings of PostgreSQL for the statements of a store, by their names. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Formats that statements expect and results are parsed in, whatever the server, the database, the login and PGOPTIONS set: dates and
 * times, and backslashes in literals, including those of functions. Every connection sends them when it starts. They are among the few
 * parameters that transaction poolers keep for each of their clients.
 */
export const formatSettings = { DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on' };

/**
 * What else results depend on. A transaction pooler does not keep these for a client, so behind one the check of the database compares
 * them.
 */
export const resultSettings = {
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  extra_float_digits: 1,
  quote_all_identifiers: 'off',
  row_security: 'on',
} satisfies SessionSettings;

/**
 * By itself, PostgreSQL plans a statement with arrays again at each execution, because it expects a plan for one element to be
 * cheaper than one for any number. Planning then takes longer than the statement. Plans that are cached while a table is empty
 * read all of it once it is large, so they must not read whole tables. Where no index serves, the estimated cost is so high that
 * PostgreSQL would compile the plan, which takes a tenth of a second.
 */
export const planOnceByIndexes = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' };

/** The start-up options of a connection, with `resultSettings`. A transaction pooler rejects them. */
export function startupOptions(settings: SessionSettings): string {
  return Object.entries({ ...resultSettings, ...settings })
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', String.raw`\ `)}`)
    .join(' ');
}

const keepCommits = (isLocal: boolean): string =>
  `select set_config('synchronous_commit', 'on', ${isLocal}) where current_setting('synchronous_commit') = 'off'`;

/** For a new session: what it commits survives a crash of the server. Other values than `off` stay: an operator has chosen them. */
export const keepCommitsOfSession = keepCommits(false);

/** Begins a transaction with these settings, in one round trip. */
export function beginWith(settings: SessionSettings): string {
  return ['begin', ...Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`)].join('; ');
}

/** Begins a transaction behind a pooler, with what a direct connection has for its whole session, in one round trip. */
export function beginPooled(settings: SessionSettings): string {
  return `${beginWith(settings)}; ${keepCommits(true)}`;
}

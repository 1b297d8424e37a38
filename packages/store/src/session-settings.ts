/** Settings of PostgreSQL for the statements of a store, by their names. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * By itself, PostgreSQL plans a statement with arrays again at each execution, because it expects a plan for one element to be
 * cheaper than one for any number. Planning then takes longer than the statement. Plans that are cached while a table is empty
 * read all of it once it is large, so they must not read whole tables.
 */
export const planOnceByIndexes: SessionSettings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' };

/** The start-up options of a connection. A transaction pooler rejects them. */
export function startupOptions(settings: SessionSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

/** Begins a transaction with these settings, in one round trip. */
export function beginWith(settings: SessionSettings, begin: 'begin' | 'begin read only' = 'begin'): string {
  return [begin, ...Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`)].join('; ');
}

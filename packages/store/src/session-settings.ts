/** Settings of PostgreSQL for the statements of a store, by their names. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Plans that are cached while a table is empty read all of it once it is large. Statements whose every table has an index that
 * serves them never need that.
 */
export const preferIndexes: SessionSettings = { enable_seqscan: 'off' };

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

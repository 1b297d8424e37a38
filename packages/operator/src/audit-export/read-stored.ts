import { type OperatorContext, readAuditEntries } from '@deedwire/actions';
import type { StoredEntry } from './compare-entries.ts';
import { toEntryJson } from './export-line.ts';

/** The entries of a database, in the order of the audit log. */
export async function* readStored(context: OperatorContext): AsyncGenerator<StoredEntry> {
  for await (const entry of readAuditEntries(context))
    yield { atMs: entry.at.getTime(), number: entry.number, json: toEntryJson(entry) };
}

import type { LostChanges, OperatorContext } from '@deedwire/actions';
import { changedFields, compareEntries, isPastRetention } from './compare-entries.ts';
import type { ExportedEntry } from './read-runs.ts';
import { readStored } from './read-stored.ts';

/**
 * Collects the entries that only one of two logs of the same installation has.
 *
 * @param before of the old database, or of exports
 * @returns the time of its last entry
 * @throws {Error} if the logs have no entry in common, or contradict each other
 */
export async function compareLogs(
  before: AsyncIterable<ExportedEntry>,
  context: OperatorContext,
  {
    changes,
    retentionDays,
    onProgress,
  }: { changes: LostChanges; retentionDays: number; onProgress: (done: string) => void },
): Promise<Date> {
  let [read, missing, lastMs] = [0, 0, 0];
  async function* watched(): AsyncGenerator<ExportedEntry> {
    for await (const entry of before) {
      read += 1;
      lastMs = entry.atMs;
      onProgress(`Read ${read.toLocaleString('en')} entries`);
      yield entry;
    }
  }
  const nowMs = context.now().getTime();
  for await (const difference of compareEntries(watched(), readStored(context))) {
    if (difference.kind === 'new') {
      changes.addMade(difference.stored.json);
      continue;
    }
    const { json, number, atMs } = difference.exported;
    if (difference.kind === 'altered')
      throw new Error(
        `The entry ${number} of the audit log differs from that of before the restore: ${changedFields(json, difference.stored.json).join(', ')}. Nothing was changed. Set GID_NAMESPACE as for the apps. If it is, the entry was altered.`,
      );
    missing += 1;
    if (!isPastRetention(difference, retentionDays, nowMs)) changes.addLost(json, number, new Date(atMs));
  }
  if (missing < read) return new Date(lastMs);
  throw new Error(
    'The audit logs of this database and of before the restore have no entry in common. Nothing was changed. Check the URL, or that ' +
      'the exports are of this database and begin before the time of the restore.',
  );
}

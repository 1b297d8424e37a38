import { comparePositions, type Position } from './position.ts';
import type { ExportedEntry } from './read-runs.ts';

/** An entry in the database. */
export interface StoredEntry extends Position {
  json: string;
}

export type Difference =
  | { kind: 'new'; stored: StoredEntry }
  /** `isBeforeAll`: the database has no earlier entry. */
  | { kind: 'missing'; exported: ExportedEntry; isBeforeAll: boolean }
  | { kind: 'altered'; exported: ExportedEntry; stored: StoredEntry };

/** Compares the entries of exports with those of the database. Both are in the order of the audit log. */
export async function* compareEntries(
  exported: AsyncIterable<ExportedEntry>,
  stored: AsyncIterable<StoredEntry>,
): AsyncGenerator<Difference> {
  const exports = exported[Symbol.asyncIterator]();
  let next = await exports.next();
  let isBeforeAll = true;
  for await (const entry of stored) {
    while (next.done !== true && comparePositions(next.value, entry) < 0) {
      yield { kind: 'missing', exported: next.value, isBeforeAll };
      next = await exports.next();
    }
    isBeforeAll = false;
    if (next.done === true || comparePositions(next.value, entry) > 0) {
      yield { kind: 'new', stored: entry };
      continue;
    }
    if (next.value.json !== entry.json) yield { kind: 'altered', exported: next.value, stored: entry };
    next = await exports.next();
  }
  for (; next.done !== true; next = await exports.next()) {
    yield { kind: 'missing', exported: next.value, isBeforeAll };
  }
}

const dayMs = 86_400_000;

/** Whether the worker may have dropped a missing entry: it drops the earliest entries, once they are older than the retention. */
export function isPastRetention(
  { exported, isBeforeAll }: Extract<Difference, { kind: 'missing' }>,
  retentionDays: number,
  nowMs: number,
): boolean {
  return isBeforeAll && exported.atMs < nowMs - retentionDays * dayMs;
}

/** The names of the fields in which two entries differ. */
export function changedFields(exportedJson: string, storedJson: string): string[] {
  const exported: Record<string, unknown> = JSON.parse(exportedJson);
  const stored: Record<string, unknown> = JSON.parse(storedJson);
  return [...new Set([...Object.keys(exported), ...Object.keys(stored)])].filter(
    (name) => JSON.stringify(exported[name]) !== JSON.stringify(stored[name]),
  );
}

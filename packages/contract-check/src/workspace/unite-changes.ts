import type { Notice } from '../change.ts';
import { compareVerdicts } from '../verdict.ts';
import type { ContractChange, PackageChanges } from './compare-snapshots.ts';

/**
 * The changes of several comparisons of one package: with each of its baselines, and by each of its settings. Of changes
 * that differ in the verdict only, the largest one counts.
 */
export function uniteChanges(found: readonly PackageChanges[]): PackageChanges {
  const changes = new Map<string, ContractChange>();
  for (const change of found.flatMap((each) => each.changes)) {
    const key = [change.file, change.coordinate, change.message].join('\n');
    const other = changes.get(key);
    if (other === undefined || isStricter(change, other)) changes.set(key, change);
  }
  const notices = new Map<string, Notice>(
    found.flatMap((each) => each.notices).map((notice) => [`${notice.location.file}\n${notice.message}`, notice]),
  );
  return { changes: [...changes.values()], notices: [...notices.values()] };
}

function isStricter(one: ContractChange, other: ContractChange): boolean {
  if (one.breaksReleased !== other.breaksReleased) return one.breaksReleased;
  return compareVerdicts(one.verdict, other.verdict) > 0;
}

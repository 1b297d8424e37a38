import type { ContractChange } from './compare-snapshots.ts';
import type { ContractException } from './exceptions.ts';

/** `applied`: a change needs the exception. `unused`: no change does. `expired`: the last day has passed. */
export type ExceptionStatus = 'applied' | 'unused' | 'expired';

export interface ReportedException extends ContractException {
  readonly status: ExceptionStatus;
}

/** The changes of a package after the exceptions that hold. An excepted change can be released. */
export function applyExceptions(
  changes: readonly ContractChange[],
  exceptions: readonly ContractException[],
  today: string,
): ContractChange[] {
  const holding = exceptions.filter((exception) => !isExpired(exception, today));
  return changes.map((change) => {
    const exception = holding.find((each) => covers(each, change));
    if (exception === undefined) return change;
    return { ...change, verdict: exception.verdict ?? change.verdict, breaksReleased: false };
  });
}

/** @param changes all changes, by package, before the exceptions were applied */
export function reportExceptions(
  exceptions: readonly ContractException[],
  changes: ReadonlyMap<string, readonly ContractChange[]>,
  today: string,
): ReportedException[] {
  return exceptions.map((exception) => {
    const isUsed = (changes.get(exception.package) ?? []).some((change) => covers(exception, change));
    return { ...exception, status: isExpired(exception, today) ? 'expired' : isUsed ? 'applied' : 'unused' };
  });
}

function covers({ file, rule, coordinate }: ContractException, change: ContractChange): boolean {
  return change.file === file && change.rule === rule && change.coordinate === coordinate;
}

function isExpired({ expiresOn }: ContractException, today: string): boolean {
  return expiresOn < today;
}

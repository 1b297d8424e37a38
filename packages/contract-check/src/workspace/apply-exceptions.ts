import { isDeepStrictEqual } from 'node:util';
import type { ContractChange } from './compare-snapshots.ts';
import type { ContractException } from './exceptions.ts';

/**
 * `applied`: a change needs the exception. `unused`: no change does. `expired`: the last day has passed. `new`: the exception is
 * added or changed together with the changes that are checked, so it does not apply yet.
 */
export type ExceptionStatus = 'applied' | 'unused' | 'expired' | 'new';

export interface ReportedException extends ContractException {
  readonly status: ExceptionStatus;
}

/** The exceptions of a workspace. */
export interface ExceptionList {
  /** Those in the working tree. */
  readonly listed: readonly ContractException[];
  /**
   * Those at the merge base, and those that the target has now: an exception has to be in each list. Null if this is unknown,
   * so that all apply.
   */
  readonly merged: readonly (readonly ContractException[])[] | null;
}

/** The changes of a package after the exceptions that hold. An excepted change can be released. */
export function applyExceptions(
  changes: readonly ContractChange[],
  exceptions: ExceptionList,
  packageName: string,
  today: string,
): ContractChange[] {
  const own = exceptions.listed.filter((exception) => exception.package === packageName);
  const holding = own.filter((exception) => isMerged(exception, exceptions) && !isExpired(exception, today));
  return changes.map((change) => {
    const exception = holding.find((each) => covers(each, change));
    if (exception === undefined) return change;
    return { ...change, verdict: exception.verdict ?? change.verdict, breaksReleased: false };
  });
}

/** @param changes those of each package, before the exceptions were applied */
export function reportExceptions(
  exceptions: ExceptionList,
  changes: readonly (readonly [packageName: string, changes: readonly ContractChange[]])[],
  today: string,
): ReportedException[] {
  return exceptions.listed.map((exception) => {
    const isUsed = changes.some(
      ([name, own]) => name === exception.package && own.some((change) => covers(exception, change)),
    );
    const status = isMerged(exception, exceptions) ? (isUsed ? 'applied' : 'unused') : 'new';
    return { ...exception, status: isExpired(exception, today) ? 'expired' : status };
  });
}

/** Whether an exception that does not apply yet covers a change. */
export function isCoveredByNew(change: ContractChange, exceptions: ExceptionList, packageName: string): boolean {
  return exceptions.listed.some(
    (each) => each.package === packageName && covers(each, change) && !isMerged(each, exceptions),
  );
}

function isMerged(exception: ContractException, { merged }: ExceptionList): boolean {
  return merged === null || merged.every((list) => list.some((other) => isDeepStrictEqual(other, exception)));
}

function covers({ file, rule, coordinate }: ContractException, change: ContractChange): boolean {
  return change.file === file && change.rule === rule && change.coordinate === coordinate;
}

function isExpired({ expiresOn }: ContractException, today: string): boolean {
  return expiresOn < today;
}

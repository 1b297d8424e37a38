import { isDeepStrictEqual } from 'node:util';
import { isReason } from '../environment/question.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import type { SourceText } from '../text-file.ts';
import type { Verdict } from '../verdict.ts';
import type { ContractChange } from './compare-snapshots.ts';

/** A change that someone approved although the rules refuse it or demand a larger bump. */
export interface ContractException {
  readonly package: string;
  /** Path in the package, as in the report of the change. */
  readonly file: string;
  readonly rule: string;
  readonly coordinate: string;
  /** The bump that the change needs. Null for the verdict of the rule. */
  readonly verdict: Verdict | null;
  readonly reason: string;
  /** The last day on which the exception holds, `YYYY-MM-DD` in UTC. */
  readonly expiresOn: string;
  readonly approvedBy: string;
}

export const exceptionsFile = 'contract-exceptions.json';

const validate = validatorOf<{
  readonly exceptions: readonly (Omit<ContractException, 'verdict'> & { readonly verdict?: Verdict | null })[];
}>('config.schema.json', 'exceptions');

/** Reads the exceptions of a workspace. `packages` are the names that one can have: null for any. */
export function parseExceptions(source: SourceText, packages: readonly string[] | null): ContractException[] {
  const document = parseJson(source);
  return validate(document, document.value).exceptions.map(({ verdict = null, ...rest }, index) => {
    const fail = (member: string, problem: string): never =>
      failIn(document, `/exceptions/${index}/${member}`, problem);
    if (isReason(rest.rule)) return { ...rest, verdict };
    if (!rulesById.has(rest.rule))
      fail('rule', `must be a rule that a report names${didYouMean(rest.rule, rulesById.keys())}`);
    if (packages?.includes(rest.package) === false)
      fail('package', `must be a contract package: ${packages.join(', ')}`);
    return { ...rest, verdict };
  });
}

/**
 * `applied`: a change needs the exception. `unused`: no change does. `expired`: the last day has passed. `new`: the exception is
 * added or changed together with the changes that are checked, so it does not apply yet.
 */
export type ExceptionStatus = 'applied' | 'unused' | 'expired' | 'new';

export interface ReportedException extends ContractException {
  readonly status: ExceptionStatus;
}

/** What an exception names. */
type Excepted = Pick<ContractException, 'file' | 'rule' | 'coordinate'>;

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
  return changes.map((change) => {
    const exception = own.find((each) => isHolding(each, change, exceptions, today));
    if (exception === undefined) return change;
    return { ...change, verdict: exception.verdict ?? change.verdict, breaksReleased: false };
  });
}

/** Whether an exception applies to a change, or to the reason for an answer. */
export function isHolding(exception: ContractException, change: Excepted, list: ExceptionList, today: string): boolean {
  return covers(exception, change) && isMerged(exception, list) && !isExpired(exception, today);
}

/** @param changes those of each package, before the exceptions were applied */
export function reportExceptions(
  exceptions: ExceptionList,
  changes: readonly (readonly [packageName: string, changes: readonly Excepted[]])[],
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

function covers({ file, rule, coordinate }: ContractException, change: Excepted): boolean {
  return change.file === file && change.rule === rule && change.coordinate === coordinate;
}

function isExpired({ expiresOn }: ContractException, today: string): boolean {
  return expiresOn < today;
}

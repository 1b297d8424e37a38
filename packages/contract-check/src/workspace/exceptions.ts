import { isDeepStrictEqual } from 'node:util';
import { isReason } from '../environment/question.ts';
import { failIn, parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import type { SourceText } from '../text-file.ts';
import type { Verdict } from '../verdict.ts';

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

/** What an exception names: a change, or the reason for an answer. */
type Excepted = Pick<ContractException, 'file' | 'rule' | 'coordinate'>;

export type Exceptions = ReturnType<typeof exceptionsOn>;

/**
 * The exceptions of a workspace on a day.
 *
 * @param listed those in the working tree
 * @param merged those at the merge base, and those that the target has now: an exception has to be in each list. Null if this is
 * unknown, so that all apply.
 */
export function exceptionsOn(
  today: string,
  listed: readonly ContractException[],
  merged: readonly (readonly ContractException[])[] | null,
) {
  const isExpired = ({ expiresOn }: ContractException): boolean => expiresOn < today;
  const isMerged = (exception: ContractException): boolean =>
    merged === null || merged.every((list) => list.some((other) => isDeepStrictEqual(other, exception)));
  const covering = (packageName: string, { file, rule, coordinate }: Excepted): ContractException[] =>
    listed.filter(
      (each) =>
        each.package === packageName && each.file === file && each.rule === rule && each.coordinate === coordinate,
    );
  return {
    /** The exception that applies to a change of a package. Undefined if none does. */
    appliedTo: (packageName: string, change: Excepted): ContractException | undefined =>
      covering(packageName, change).find((each) => isMerged(each) && !isExpired(each)),
    /** Whether an exception that does not apply yet covers a change of a package. */
    isPendingFor: (packageName: string, change: Excepted): boolean =>
      covering(packageName, change).some((each) => !isMerged(each)),
    /** @param changes those of each package, before the exceptions were applied */
    report(changes: readonly (readonly [packageName: string, changes: readonly Excepted[]])[]): ReportedException[] {
      const used = new Set(changes.flatMap(([name, own]) => own.flatMap((change) => covering(name, change))));
      return listed.map((exception) => {
        const status = isMerged(exception) ? (used.has(exception) ? 'applied' : 'unused') : 'new';
        return { ...exception, status: isExpired(exception) ? 'expired' : status };
      });
    },
  };
}

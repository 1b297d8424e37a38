import { InputError } from '../input-error.ts';
import { parseJson } from '../json/parse-json.ts';
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

/**
 * Reads the exceptions of a workspace.
 *
 * @param packages the names that an exception can have. Null if any name is accepted.
 */
export function parseExceptions(source: SourceText, packages: readonly string[] | null): ContractException[] {
  const document = parseJson(source);
  return validate(document, document.value).exceptions.map(({ verdict = null, ...rest }, index) => {
    const fail = (member: string, problem: string): never => {
      const pointer = `/exceptions/${index}/${member}`;
      throw new InputError(source.file, document.lineOf(pointer), `${pointer} ${problem}`);
    };
    if (!rulesById.has(rest.rule))
      fail('rule', `must be a rule that a report names${didYouMean(rest.rule, rulesById.keys())}`);
    if (packages?.includes(rest.package) === false)
      fail('package', `must be a contract package: ${packages.join(', ')}`);
    return { ...rest, verdict };
  });
}

import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import type { SourceText } from '../text-file.ts';
import { isVerdict, type Verdict } from '../verdict.ts';
import { isDay } from './days.ts';

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

const members = ['package', 'file', 'rule', 'coordinate', 'verdict', 'reason', 'expiresOn', 'approvedBy'];

/**
 * Reads the exceptions of a workspace.
 *
 * @param packages the names that an exception can have. Null if any name is accepted.
 * @throws {InputError} when the file is invalid, or names an unknown rule or package.
 */
export function parseExceptions(source: SourceText, packages: readonly string[] | null): ContractException[] {
  const document = parseJson(source);

  function fail(pointer: string, problem: string): never {
    // A missing member has no line, but the object around it has.
    const line = document.lineOf(pointer) ?? document.lineOf(pointer.slice(0, pointer.lastIndexOf('/')));
    throw new InputError(source.file, line, `${pointer || 'the file'} ${problem}`);
  }

  function readException(entry: JsonObject, pointer: string): ContractException {
    const unknown = Object.keys(entry).find((name) => !members.includes(name));
    if (unknown !== undefined)
      fail(childPointer(pointer, unknown), `is not a known member${didYouMean(unknown, members)}`);
    const text = (name: string): string => {
      const value = ownMember(entry, name);
      const isText = typeof value === 'string' && value.trim() !== '';
      return isText ? value : fail(childPointer(pointer, name), 'must be a text that is not empty');
    };
    const verdict = ownMember(entry, 'verdict') ?? null;
    if (verdict !== null && !isVerdict(verdict))
      fail(childPointer(pointer, 'verdict'), 'must be none, patch, minor or major');
    const exception = {
      package: text('package'),
      file: text('file'),
      rule: text('rule'),
      coordinate: text('coordinate'),
      verdict,
      reason: text('reason'),
      expiresOn: text('expiresOn'),
      approvedBy: text('approvedBy'),
    };
    if (!isDay(exception.expiresOn)) fail(childPointer(pointer, 'expiresOn'), 'must be YYYY-MM-DD');
    if (!rulesById.has(exception.rule))
      fail(
        childPointer(pointer, 'rule'),
        `must be a rule that a report names${didYouMean(exception.rule, rulesById.keys())}`,
      );
    if (packages !== null && !packages.includes(exception.package))
      fail(childPointer(pointer, 'package'), `must be a contract package: ${packages.join(', ')}`);
    return exception;
  }

  const list = isJsonObject(document.value) ? ownMember(document.value, 'exceptions') : undefined;
  if (!Array.isArray(list)) return fail('/exceptions', 'must be a list');
  return list.map((entry, index) => {
    const pointer = childPointer('/exceptions', index);
    return isJsonObject(entry) ? readException(entry, pointer) : fail(pointer, 'must be an object');
  });
}

import picomatch from 'picomatch';
import { report, type Change, type Report } from '../change.ts';
import { compareVerdicts } from '../verdict.ts';
import type { Override } from './config.ts';

/** Changes the verdict of a change if an override matches it. `file` is relative to the root, with `/`. */
export type ApplyOverrides = (change: Change, file: string) => Change;

export function overridesOf(overrides: readonly Override[]): ApplyOverrides {
  const matchers = overrides.map((override) => ({ override, matches: matcherOf(override) }));
  return (change, file) => {
    const found = matchers.find(({ matches }) => matches(change, file));
    if (found === undefined) return change;
    const { verdict, reason } = found.override;
    return { ...change, verdict, override: { verdict: change.verdict, reason } };
  };
}

/** The larger verdict of two lists of overrides: an override that only one of them contains cannot lower a verdict. */
export function strictestOf(one: ApplyOverrides, other: ApplyOverrides): ApplyOverrides {
  return (change, file) => {
    const [a, b] = [one(change, file), other(change, file)];
    return compareVerdicts(a.verdict, b.verdict) >= 0 ? a : b;
  };
}

export function overrideReport(
  { changes, notices }: Report,
  apply: ApplyOverrides,
  fileOf: (change: Change) => string,
): Report {
  return report(
    changes.map((change) => apply(change, fileOf(change))),
    notices,
  );
}

function matcherOf({ rule, coordinate, files }: Override): (change: Change, file: string) => boolean {
  const isCoordinate = coordinate === undefined ? () => true : patternOf(coordinate);
  const isFile = files === undefined ? () => true : picomatch([...files]);
  return (change, file) =>
    (rule === undefined || change.rule === rule) &&
    // The configuration cannot lower the rules for versions: that takes an approved exception.
    !change.rule.startsWith('version/') &&
    isCoordinate(change.coordinate) &&
    isFile(file);
}

/** `*` stands for any text. */
function patternOf(coordinate: string): (text: string) => boolean {
  const parts = coordinate.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
  return (text) => pattern.test(text);
}

import picomatch from 'picomatch';
import type { Change } from '../change.ts';
import { compareVerdicts } from '../verdict.ts';
import type { Override } from './generated/config.ts';

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

/** The change with the largest verdict, after different overrides: an override that only some of them apply cannot lower it. */
export function strictest(changes: readonly [Change, ...Change[]]): Change {
  return changes.reduce((one, other) => (compareVerdicts(one.verdict, other.verdict) >= 0 ? one : other));
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

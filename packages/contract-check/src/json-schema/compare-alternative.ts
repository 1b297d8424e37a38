import type { Alternative } from './alternatives.ts';
import { compareArrays } from './compare-arrays.ts';
import { compareConditions } from './compare-conditions.ts';
import { compareNumbers } from './compare-numbers.ts';
import { compareObjects } from './compare-objects.ts';
import { compareRemarks } from './compare-remarks.ts';
import { compareStrings } from './compare-strings.ts';
import { compareBounds } from './bounds.ts';
import type { Comparison } from './comparison.ts';
import { valueSetOf, type InstanceType } from './value-set.ts';

type Compare = (comparison: Comparison, path: string, from: Alternative['schemas'], to: Alternative['schemas']) => void;

const compareByType: Readonly<Record<InstanceType, Compare>> = {
  string: compareStrings,
  number: compareNumbers,
  boolean: () => {},
  object: compareObjects,
  array: compareArrays,
};

/** Two alternatives of one type. Keywords that say nothing about the type do not count. */
export function compareAlternative(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  compareValues(comparison, path, from, to);
  for (const change of compareBounds(from.type, from.schemas, to.schemas)) {
    const rule = change.tightened ? 'boundTightened' : 'boundLoosened';
    comparison.found(rule, path, `${change.name} was ${change.from}, is ${change.to}.`);
  }
  compareByType[from.type](comparison, path, from.schemas, to.schemas);
  compareConditions(comparison, path, from.schemas, to.schemas);
  compareRemarks(comparison, path, from.schemas, to.schemas);
}

function compareValues(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  const before = valueSetOf(from.schemas, from.type);
  const now = valueSetOf(to.schemas, to.type);
  if (before === null && now === null) return;
  if (before === null) return comparison.found('valuesListed', path, `Only ${list(now?.values)} can be here.`);
  if (now === null) return comparison.found('valuesUnlisted', path, `Any value can be here, not only ${list(before.values)}.`);
  const added = [...now.values].filter((value) => !before.values.has(value));
  const removed = [...before.values].filter((value) => !now.values.has(value));
  if (added.length > 0 && removed.length > 0 && before.constant && before.values.size === 1) {
    return comparison.found('constChanged', path, `It was ${list(before.values)}, is ${list(now.values)}.`);
  }
  if (removed.length > 0) comparison.found('enumValueRemoved', path, `${list(removed)} cannot be here any more.`);
  if (added.length === 0) return;
  const grown = comparison.closedOutputs ? 'enumValueAddedClosed' : 'enumValueAdded';
  comparison.found(before.constant ? 'constWidened' : grown, path, `${list(added)} can be here too.`);
}

function list(values: Iterable<string> = []): string {
  return [...values].toSorted().join(', ');
}

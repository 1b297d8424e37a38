import { describeDifference } from '../describe-difference.ts';
import type { Alternative } from './alternatives.ts';
import { compareBounds } from './bounds.ts';
import { compareAnnotations } from './compare-annotations.ts';
import { compareArrays } from './compare-arrays.ts';
import { compareConditions } from './compare-conditions.ts';
import { compareNumbers } from './compare-numbers.ts';
import { compareObjects } from './compare-objects.ts';
import { compareStrings } from './compare-strings.ts';
import type { Comparison, Place } from './comparison.ts';
import { valueSetOf, type InstanceType } from './value-set.ts';

const compareByType: Readonly<Record<InstanceType, (comparison: Comparison, place: Place) => void>> = {
  string: compareStrings,
  number: compareNumbers,
  boolean: () => {},
  object: compareObjects,
  array: compareArrays,
};

/** Compares two alternatives of one type. Keywords that do not apply to the type are ignored. */
export function compareAlternative(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  compareValues(comparison, path, from, to);
  for (const change of compareBounds(from.type, from.schemas, to.schemas)) {
    const rule = change.tightened ? 'boundTightened' : 'boundLoosened';
    comparison.found(rule, path, describeDifference(change.name, change.from, change.to));
  }
  const place = { path, from: from.schemas, to: to.schemas };
  compareByType[from.type](comparison, place);
  compareConditions(comparison, path, from, to);
  compareAnnotations(comparison, place);
}

function compareValues(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  const before = valueSetOf(from.schemas, from.type);
  const now = valueSetOf(to.schemas, to.type);
  if (before === null && now === null) return;
  if (before === null)
    return comparison.found('valuesListed', path, `Only these values are now valid: ${list(now?.values)}.`);
  if (now === null)
    return comparison.found(
      'valuesUnlisted',
      path,
      `Any value of type ${from.type} is now valid. Before, only these were: ${list(before.values)}.`,
    );
  const added = [...now.values].filter((value) => !before.values.has(value));
  const removed = [...before.values].filter((value) => !now.values.has(value));
  if (added.length > 0 && removed.length > 0 && before.constant && before.values.size === 1) {
    return comparison.found(
      'constChanged',
      path,
      `The constant changed from ${list(before.values)} to ${list(now.values)}.`,
    );
  }
  if (removed.length > 0) comparison.found('enumValueRemoved', path, `${valuesWere(removed)} removed.`);
  if (added.length === 0) return;
  const grown = comparison.closedOutputs ? 'enumValueAddedClosed' : 'enumValueAdded';
  comparison.found(before.constant ? 'constWidened' : grown, path, `${valuesWere(added)} added.`);
}

function valuesWere(values: readonly string[]): string {
  return values.length === 1 ? `The value ${list(values)} was` : `The values ${list(values)} were`;
}

function list(values: Iterable<string> = []): string {
  return [...values].toSorted().join(', ');
}

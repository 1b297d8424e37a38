import { describeDifference } from '../describe-difference.ts';
import { onlyIn } from '../only-in.ts';
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

function compareValues({ found, closedOutputs }: Comparison, path: string, from: Alternative, to: Alternative): void {
  const [before, now] = [valueSetOf(from.schemas, from.type), valueSetOf(to.schemas, to.type)];
  if (before === null) {
    if (now !== null) found('valuesListed', path, `Only these values are now valid: ${list(now.values)}.`);
    return;
  }
  const old = list(before.values);
  if (now === null) {
    const message = `Any value of type ${from.type} is now valid. Before, only these were: ${old}.`;
    return found('valuesUnlisted', path, message);
  }
  const [added, removed] = [onlyIn(now.values, before.values), onlyIn(before.values, now.values)];
  if (added.length > 0 && removed.length > 0 && before.constant && before.values.size === 1)
    return found('constChanged', path, `The constant changed from ${old} to ${list(now.values)}.`);
  if (removed.length > 0) found('enumValueRemoved', path, `${valuesWere(removed)} removed.`);
  const grown = closedOutputs ? 'enumValueAddedClosed' : 'enumValueAdded';
  if (added.length > 0) found(before.constant ? 'constWidened' : grown, path, `${valuesWere(added)} added.`);
}

function valuesWere(values: readonly string[]): string {
  return values.length === 1 ? `The value ${list(values)} was` : `The values ${list(values)} were`;
}

function list(values: Iterable<string>): string {
  return [...values].toSorted().join(', ');
}

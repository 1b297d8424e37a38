import { describeDifference } from '../describe-difference.ts';
import { JsonNumber } from '../json/json-number.ts';
import { onlyIn } from '../only-in.ts';
import { compareFormats } from './compare-strings.ts';
import type { Comparison, Place } from './comparison.ts';
import { keywordValues, show } from './keyword-values.ts';
import type { Schema } from './schema-document.ts';
import { isInteger } from './value-set.ts';

export function compareNumbers(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  const [wasInteger, integer] = [isInteger(from), isInteger(to)];
  if (wasInteger && !integer) comparison.found('typeAdded', path, 'Fractions are now valid.');
  if (!wasInteger && integer) comparison.found('typeRemoved', path, 'Only integers are now valid.');
  compareMultiples(comparison, place);
  compareFormats(comparison, place);
}

function compareMultiples({ found }: Comparison, { path, from, to }: Place): void {
  const [before, now] = [keywordValues(from, 'multipleOf'), keywordValues(to, 'multipleOf')];
  // Integers are the multiples of 1, in both notations.
  const [multiplesBefore, multiplesNow] = [withoutOne(before, from), withoutOne(now, to)];
  const removed = onlyIn(multiplesBefore, multiplesNow);
  const added = onlyIn(multiplesNow, multiplesBefore);
  const [known, kept] = [withOne(before, from), withOne(now, to)];
  const message = describeDifference('multipleOf', show(before), show(now));
  // A multiple of 10 is also a multiple of 5: replacing 5 by 10 tightens the bound and does not loosen it.
  if (added.some((divisor) => ![...known].some((old) => isMultiple(old, divisor)))) {
    found('boundTightened', path, message);
  }
  if (removed.some((divisor) => ![...kept].some((next) => isMultiple(next, divisor)))) {
    found('boundLoosened', path, message);
  }
}

function withoutOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set([...multiples].filter((each) => each !== '1' || !isInteger(all)));
}

function withOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set(isInteger(all) ? [...multiples, '1'] : multiples);
}

function isMultiple(value: string, divisor: string): boolean {
  return JsonNumber.parse(value).isMultipleOf(JsonNumber.parse(divisor));
}

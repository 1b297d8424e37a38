import { describeDifference } from '../describe-difference.ts';
import { compareFormats } from './compare-strings.ts';
import type { Comparison } from './comparison.ts';
import { onlyIn, keywordValues, show } from './keyword-values.ts';
import type { Schema } from './schema-document.ts';
import { isInteger } from './value-set.ts';

export function compareNumbers(
  comparison: Comparison,
  path: string,
  from: readonly Schema[],
  to: readonly Schema[],
): void {
  const [wasInteger, integer] = [isInteger(from), isInteger(to)];
  if (wasInteger && !integer) comparison.found('typeAdded', path, 'Fractions are now valid.');
  if (!wasInteger && integer) comparison.found('typeRemoved', path, 'Only integers are now valid.');
  compareMultiples(comparison, path, from, to);
  compareFormats(comparison, path, from, to);
}

function compareMultiples(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const [before, now] = [keywordValues(from, 'multipleOf'), keywordValues(to, 'multipleOf')];
  // Integers are the multiples of 1, in both notations.
  const [multiplesBefore, multiplesNow] = [withoutOne(before, from), withoutOne(now, to)];
  const removed = onlyIn(multiplesBefore, multiplesNow).map(Number);
  const added = onlyIn(multiplesNow, multiplesBefore).map(Number);
  const [known, kept] = [withOne(before, from), withOne(now, to)];
  const message = describeDifference('multipleOf', show(before), show(now));
  // A multiple of 10 is also a multiple of 5: replacing 5 by 10 tightens the bound and does not loosen it.
  if (added.some((divisor) => ![...known].some((old) => isMultiple(Number(old), divisor)))) {
    comparison.found('boundTightened', path, message);
  }
  if (removed.some((divisor) => ![...kept].some((next) => isMultiple(Number(next), divisor)))) {
    comparison.found('boundLoosened', path, message);
  }
}

function withoutOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set([...multiples].filter((each) => each !== '1' || !isInteger(all)));
}

function withOne(multiples: ReadonlySet<string>, all: readonly Schema[]): Set<string> {
  return new Set(isInteger(all) ? [...multiples, '1'] : multiples);
}

/** Also for decimals: 0.3 is a multiple of 0.1, although `0.3 % 0.1` is not 0. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 && Math.round(quotient) >= 1;
}

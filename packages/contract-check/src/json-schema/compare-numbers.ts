import { compareFormats } from './compare-strings.ts';
import type { Comparison } from './comparison.ts';
import { onlyIn, saidUnder, show } from './said-under.ts';
import type { Schema } from './schema-document.ts';
import { isInteger } from './value-set.ts';

export function compareNumbers(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const [wasInteger, integer] = [isInteger(from), isInteger(to)];
  if (wasInteger && !integer) comparison.found('typeAdded', path, 'It can be a fraction, not only an integer.');
  if (!wasInteger && integer) comparison.found('typeRemoved', path, 'It can only be an integer.');
  compareMultiples(comparison, path, from, to);
  compareFormats(comparison, path, from, to);
}

function compareMultiples(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const [before, now] = [saidUnder(from, 'multipleOf'), saidUnder(to, 'multipleOf')];
  const removed = onlyIn(before, now).map(Number);
  const added = onlyIn(now, before).map(Number);
  const message = `multipleOf was ${show(before)}, is ${show(now)}.`;
  // A multiple of 10 is a multiple of 5: what a new divisor implies was not loosened, and the other way round.
  if (added.some((divisor) => ![...before].some((old) => isMultiple(Number(old), divisor)))) {
    comparison.found('boundTightened', path, message);
  }
  if (removed.some((divisor) => ![...now].some((next) => isMultiple(Number(next), divisor)))) {
    comparison.found('boundLoosened', path, message);
  }
}

/** Of decimals too: 0.3 is a multiple of 0.1, although `0.3 % 0.1` is not 0. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 && Math.round(quotient) >= 1;
}

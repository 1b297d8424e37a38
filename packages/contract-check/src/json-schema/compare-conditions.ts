import { ownMember } from '../json/json-value.ts';
import type { Alternative } from './alternatives.ts';
import type { Comparison } from './comparison.ts';
import { never, schemas, type Schema } from './schema-document.ts';
import { areWrittenAlike } from './written-alike.ts';

/** Compares `not`, `if` and what depends on a condition. A change inside is reported as a replaced condition. */
export function compareConditions(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  compareNegations(comparison, path, from.schemas, to.schemas);
  compareBranches(comparison, path, from.schemas, to.schemas);
  compareUnresolved(comparison, path, from.unresolved, to.unresolved);
}

/** Which properties or items `anyOf`, `if` and the like evaluate together is not computed, so every difference counts. */
function compareUnresolved(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const rest = [...to];
  const what = 'with `unevaluatedProperties` or `unevaluatedItems` that depends on a condition was';
  for (const before of from) {
    const at = rest.findIndex((now) => areWrittenAlike(comparison.from, before, comparison.to, now));
    if (at === -1) comparison.found('conditionRemoved', path, `A schema ${what} removed or changed.`);
    else rest.splice(at, 1);
  }
  for (const _ of rest) comparison.found('conditionAdded', path, `A schema ${what} added or changed.`);
}

function compareNegations(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const rest = negationsOf(to);
  for (const before of negationsOf(from)) {
    const at = rest.findIndex((now) => comparison.areSame(before, now));
    if (at === -1) comparison.found('conditionRemoved', path, 'A `not` condition was removed or changed.');
    else rest.splice(at, 1);
  }
  for (const _ of rest) comparison.found('conditionAdded', path, 'A `not` condition was added or changed.');
}

function negationsOf(all: readonly Schema[]): (readonly Schema[])[] {
  const negations = all.filter((schema) => Object.hasOwn(schema, 'not')).map((schema) => schemas(schema['not']));
  // `not: false` rejects no value.
  return negations.filter((negated) => !negated.includes(never));
}

interface Branching {
  readonly condition: readonly Schema[];
  readonly met: readonly Schema[];
  readonly unmet: readonly Schema[];
}

function branchingsOf(all: readonly Schema[]): Branching[] {
  return all
    .filter((schema) => Object.hasOwn(schema, 'if') && (Object.hasOwn(schema, 'then') || Object.hasOwn(schema, 'else')))
    .map((schema) => ({
      condition: schemas(schema['if']),
      met: schemas(ownMember(schema, 'then')),
      unmet: schemas(ownMember(schema, 'else')),
    }))
    .filter(({ met, unmet }) => met.length > 0 || unmet.length > 0);
}

function compareBranches(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const rest = branchingsOf(to);
  for (const before of branchingsOf(from)) {
    const at = rest.findIndex((now) => comparison.areSame(before.condition, now.condition));
    const [now] = at === -1 ? [] : rest.splice(at, 1);
    if (now === undefined) {
      comparison.found('conditionRemoved', path, 'An `if` condition was removed or changed.');
      continue;
    }
    comparison.compareLater({ path, from: before.met, to: now.met, nullCompared: true });
    comparison.compareLater({ path, from: before.unmet, to: now.unmet, nullCompared: true });
  }
  for (const _ of rest) comparison.found('conditionAdded', path, 'An `if` condition was added or changed.');
}

import { ownMember } from '../json/json-value.ts';
import { onlyIn } from '../only-in.ts';
import type { Alternative } from './alternatives.ts';
import type { Comparison } from './comparison.ts';
import { keywordValues } from './keyword-values.ts';
import { external } from './keywords.ts';
import { matched, type Matched } from './pairing.ts';
import { never, schemas, type Schema } from './schema-document.ts';
import { areWrittenAlike } from './written-alike.ts';

/** Compares `not`, `if` and what depends on a condition. A change inside is reported as a replaced condition. */
export function compareConditions(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  const { areSame, found } = comparison;
  const negations = matched(negationsOf(from.schemas), negationsOf(to.schemas), areSame);
  reportUnmatched(comparison, path, 'A `not` condition was', negations);
  const branchings = matched(branchingsOf(from.schemas), branchingsOf(to.schemas), (before, now) =>
    areSame(before.condition, now.condition),
  );
  reportUnmatched(comparison, path, 'An `if` condition was', branchings);
  for (const [before, now] of branchings.kept) {
    comparison.compareLater({ path, from: before.met, to: now.met, nullCompared: true });
    comparison.compareLater({ path, from: before.unmet, to: now.unmet, nullCompared: true });
  }
  // Which properties or items `anyOf`, `if` and the like evaluate together is not computed, so every difference counts.
  const unresolved = matched(from.unresolved, to.unresolved, (before, now) =>
    areWrittenAlike(comparison.from, before, comparison.to, now),
  );
  const what = 'A schema with `unevaluatedProperties` or `unevaluatedItems` that depends on a condition was';
  reportUnmatched(comparison, path, what, unresolved);
  const [before, now] = [keywordValues(from.schemas, external), keywordValues(to.schemas, external)];
  for (const each of onlyIn(before, now)) found('conditionRemoved', path, `The reference to ${each} was removed.`);
  for (const each of onlyIn(now, before)) found('conditionAdded', path, `A reference to ${each} was added.`);
}

function reportUnmatched(
  { found }: Comparison,
  path: string,
  what: string,
  { removed, added }: Matched<unknown>,
): void {
  for (const _ of removed) found('conditionRemoved', path, `${what} removed or changed.`);
  for (const _ of added) found('conditionAdded', path, `${what} added or changed.`);
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

import { describeDifference, onlyIn } from '../differences.ts';
import { ownMember } from '../json/json-value.ts';
import type { Alternative } from './alternatives.ts';
import { compareBounds } from './bounds.ts';
import { compareArrays } from './compare-arrays.ts';
import { compareObjects } from './compare-objects.ts';
import { compareNumbers, compareStrings } from './compare-scalars.ts';
import type { Comparison, Place } from './comparison.ts';
import { keywordValues, show } from './conjunction.ts';
import { compareDialects } from './dialects.ts';
import { external, isDocumentation, isUnknown } from './keywords.ts';
import { matched, type Matched } from './pairing.ts';
import { never, schemas, type Schema } from './schema-document.ts';
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

/** Compares `not`, `if` and what depends on a condition. A change inside is reported as a replaced condition. */
function compareConditions(comparison: Comparison, path: string, from: Alternative, to: Alternative): void {
  const { areSame, isSame, found } = comparison;
  const negations = matched(negationsOf(from.schemas), negationsOf(to.schemas), areSame);
  reportUnmatched(comparison, path, 'A `not` condition was', negations);
  type Branching = ReturnType<typeof branchingsOf>[number];
  const hasSameCondition = (before: Branching, now: Branching): boolean => areSame(before.condition, now.condition);
  const placesOf = (before: Branching, now: Branching): Place[] => [
    { path, from: before.met, to: now.met, nullCompared: true },
    { path, from: before.unmet, to: now.unmet, nullCompared: true },
  ];
  const branchings = matched(
    branchingsOf(from.schemas),
    branchingsOf(to.schemas),
    (before, now) => hasSameCondition(before, now) && placesOf(before, now).every(isSame),
    hasSameCondition,
  );
  reportUnmatched(comparison, path, 'An `if` condition was', branchings);
  for (const pair of branchings.kept) for (const place of placesOf(...pair)) comparison.compareLater(place);
  // Which properties or items `anyOf`, `if` and the like evaluate together is not computed, so every difference counts.
  const unresolved = matched(from.unresolved, to.unresolved, comparison.areWrittenAlike);
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

function branchingsOf(all: readonly Schema[]) {
  return all
    .filter((schema) => Object.hasOwn(schema, 'if') && (Object.hasOwn(schema, 'then') || Object.hasOwn(schema, 'else')))
    .map((schema) => ({
      condition: schemas(schema['if']),
      met: schemas(ownMember(schema, 'then')),
      unmet: schemas(ownMember(schema, 'else')),
    }))
    .filter(({ met, unmet }) => met.length > 0 || unmet.length > 0);
}

/** Keywords that are true or false, and the rules for setting and removing each. */
const flags = [
  ['deprecated', 'deprecated', 'deprecationRevoked'],
  ['readOnly', 'readOnlySet', 'accessOpened'],
  ['writeOnly', 'accessRestricted', 'accessOpened'],
] as const;

/** Compares the keywords that do not decide whether a value is valid. */
export function compareAnnotations(comparison: Comparison, place: Place): void {
  const { found } = comparison;
  const { path, from, to } = place;
  compareDialects(comparison, place);
  for (const [keyword, set, removed] of flags) {
    const [before, now] = [from, to].map((all) => keywordValues(all, keyword).has('true'));
    if (before !== now) found(now === true ? set : removed, path, `${keyword} is now ${now}.`);
  }
  const keywords = [...from, ...to].flatMap((schema) => Object.keys(schema)).filter(isDocumentation);
  for (const keyword of new Set(['default', 'discriminator', ...keywords])) {
    const [before, now] = [show(keywordValues(from, keyword)), show(keywordValues(to, keyword))];
    if (before === now) continue;
    if (keyword === 'default') {
      const rule = before === null ? 'defaultAdded' : 'defaultChanged';
      found(rule, path, describeDifference('The default', before, now));
    } else if (keyword === 'discriminator') {
      found('discriminatorChanged', path, describeDifference(keyword, before, now));
    } else {
      const rule = isUnknown(keyword) ? 'unknownKeywordChanged' : 'documentationChanged';
      found(rule, path, describeDifference(keyword, ...shortened(before, now)));
    }
  }
}

/** About 60 characters of each text, among them the first that differ. */
function shortened(...texts: [string | null, string | null]): [string | null, string | null] {
  const [from, to] = texts;
  let same = 0;
  while (from !== null && from[same] !== undefined && from[same] === to?.[same]) same += 1;
  const start = same > 40 ? same - 20 : 0;
  const short = (text: string | null): string | null =>
    text && `${start > 0 ? '…' : ''}${text.slice(start, start + 60)}${text.length > start + 60 ? '…' : ''}`;
  return [short(from), short(to)];
}

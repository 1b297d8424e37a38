import { JsonNumber, ownMember } from '../json/json-value.ts';
import type { Comparison, Place } from './comparison.ts';
import { matched } from './pairing.ts';
import { schemas, type Schema } from './schema-document.ts';
import { itemSchemas, otherItemSchemas, prefixLength } from './shape.ts';

export function compareArrays(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  const length = Math.max(prefixLength(from), prefixLength(to));
  for (let index = 0; index < length; index += 1) {
    comparison.compareLater({ path: `${path}[${index}]`, from: itemSchemas(from, index), to: itemSchemas(to, index) });
  }
  comparison.compareLater({ path: `${path}[*]`, from: otherItemSchemas(from), to: otherItemSchemas(to) });
  const [wasUnique, unique] = [isUnique(from), isUnique(to)];
  if (unique && !wasUnique) comparison.found('boundTightened', path, 'Items must now be unique.');
  if (wasUnique && !unique) comparison.found('boundLoosened', path, 'Items no longer have to be unique.');
  compareContains(comparison, place);
}

function isUnique(all: readonly Schema[]): boolean {
  return all.some((schema) => ownMember(schema, 'uniqueItems') === true);
}

type Contains = ReturnType<typeof containsOf>[number];

function containsOf(all: readonly Schema[]) {
  return (
    all
      .filter((schema) => Object.hasOwn(schema, 'contains'))
      .map((schema) => ({
        schemas: schemas(schema['contains']),
        least: countIn(schema, 'minContains') ?? JsonNumber.parse('1'),
        /** Null if there is no bound. */
        most: countIn(schema, 'maxContains'),
      }))
      // An unbounded count constrains nothing.
      .filter(({ least, most }) => least.sign > 0 || most !== null)
  );
}

function countIn(schema: Schema, keyword: string): JsonNumber | null {
  const value = ownMember(schema, keyword);
  return value instanceof JsonNumber ? value : null;
}

function range({ least, most }: Contains): string {
  return most === null ? `${String(least)} or more` : `${String(least)}–${String(most)}`;
}

function isBelow(count: JsonNumber | null, other: JsonNumber | null): boolean {
  return count !== null && (other === null || count.compare(other) < 0);
}

function compareContains(comparison: Comparison, { path, from, to }: Place): void {
  const areSame = (before: Contains, now: Contains): boolean => comparison.areSame(before.schemas, now.schemas);
  const { kept, removed, added } = matched(
    containsOf(from),
    containsOf(to),
    (before, now) => range(before) === range(now) && areSame(before, now),
    areSame,
  );
  for (const [before, now] of kept) {
    const message = `The required number of items that match \`contains\` changed from ${range(before)} to ${range(now)}.`;
    if (isBelow(before.least, now.least) || isBelow(now.most, before.most))
      comparison.found('boundTightened', path, message);
    if (isBelow(now.least, before.least) || isBelow(before.most, now.most))
      comparison.found('boundLoosened', path, message);
  }
  for (const _ of removed) comparison.found('conditionRemoved', path, 'A `contains` condition was removed.');
  for (const _ of added) comparison.found('conditionAdded', path, 'A `contains` condition was added.');
}

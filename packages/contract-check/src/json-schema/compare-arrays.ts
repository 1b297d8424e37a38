import { ownMember } from '../json/json-value.ts';
import type { Comparison } from './comparison.ts';
import { schemas, type Schema } from './schema-document.ts';
import { itemSchemas, otherItemSchemas, prefixLength } from './shape.ts';

export function compareArrays(
  comparison: Comparison,
  path: string,
  from: readonly Schema[],
  to: readonly Schema[],
): void {
  const length = Math.max(prefixLength(from), prefixLength(to));
  for (let index = 0; index < length; index += 1) {
    const place = { path: `${path}[${index}]`, from: itemSchemas(from, index), to: itemSchemas(to, index) };
    comparison.compareLater({ ...place, nullCompared: false });
  }
  const others = { path: `${path}[*]`, from: otherItemSchemas(from), to: otherItemSchemas(to) };
  comparison.compareLater({ ...others, nullCompared: false });
  const [wasUnique, unique] = [isUnique(from), isUnique(to)];
  if (unique && !wasUnique) comparison.found('boundTightened', path, 'Items must now be unique.');
  if (wasUnique && !unique) comparison.found('boundLoosened', path, 'Items no longer have to be unique.');
  compareContains(comparison, path, from, to);
}

function isUnique(all: readonly Schema[]): boolean {
  return all.some((schema) => ownMember(schema, 'uniqueItems') === true);
}

interface Contains {
  readonly schemas: readonly Schema[];
  readonly least: number;
  readonly most: number;
}

function containsOf(all: readonly Schema[]): Contains[] {
  return (
    all
      .filter((schema) => Object.hasOwn(schema, 'contains'))
      .map((schema) => ({
        schemas: schemas(schema['contains']),
        least: Number(ownMember(schema, 'minContains') ?? 1),
        most: Number(ownMember(schema, 'maxContains') ?? Number.POSITIVE_INFINITY),
      }))
      // An unbounded count constrains nothing.
      .filter(({ least, most }) => least > 0 || most < Number.POSITIVE_INFINITY)
  );
}

function range({ least, most }: Contains): string {
  return most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least}–${most}`;
}

function compareContains(comparison: Comparison, path: string, from: readonly Schema[], to: readonly Schema[]): void {
  const rest = containsOf(to);
  for (const before of containsOf(from)) {
    const at = rest.findIndex((now) => comparison.areSame(before.schemas, now.schemas));
    const [now] = at === -1 ? [] : rest.splice(at, 1);
    if (now === undefined) {
      comparison.found('conditionRemoved', path, 'A `contains` condition was removed.');
      continue;
    }
    const message = `The required number of items that match \`contains\` changed from ${range(before)} to ${range(now)}.`;
    if (now.least > before.least || now.most < before.most) comparison.found('boundTightened', path, message);
    if (now.least < before.least || now.most > before.most) comparison.found('boundLoosened', path, message);
  }
  for (const _ of rest) comparison.found('conditionAdded', path, 'A `contains` condition was added.');
}

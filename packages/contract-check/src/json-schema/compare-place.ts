import { acceptsNull } from './accepts-null.ts';
import { alternativesOf, type Alternative, type Alternatives } from './alternatives.ts';
import { compareAlternative } from './compare-alternative.ts';
import { compareAnnotations } from './compare-annotations.ts';
import type { Comparison, Place } from './comparison.ts';
import { conjunctionOf } from './conjunction.ts';
import { pairAlternatives } from './pairing.ts';
import type { SchemaDocument } from './schema-document.ts';
import { areDisjoint } from './similarity.ts';
import { instanceTypes, type InstanceType } from './value-set.ts';

/** Compares the valid values at one place: first null, then each type. */
export function comparePlace(comparison: Comparison, place: Place): void {
  const { path, from, to } = place;
  if (!place.nullCompared) {
    const [before, now] = [acceptsNull(comparison.from, from), acceptsNull(comparison.to, to)];
    if (!before && now) comparison.found('nullAdded', path, 'Null is now valid.');
    if (before && !now) comparison.found('nullRemoved', path, 'Null is no longer valid.');
  }
  const before = alternativesOf(comparison.from, from);
  const now = alternativesOf(comparison.to, to);
  for (const type of instanceTypes) compareType(comparison, path, type, ofType(before, type), ofType(now, type));
  compareExclusivity(comparison, path, before, now);
  if (before.list.length === 0 && now.list.length === 0) {
    // Only null is valid, or no value. Only annotations remain to be compared.
    const [old, next] = [conjunctionOf(comparison.from, from), conjunctionOf(comparison.to, to)];
    compareAnnotations(comparison, path, old.schemas, next.schemas);
  }
}

function ofType({ list }: Alternatives, type: InstanceType): Alternative[] {
  return list.filter((alternative) => alternative.type === type);
}

function compareType(
  comparison: Comparison,
  path: string,
  type: InstanceType,
  from: readonly Alternative[],
  to: readonly Alternative[],
): void {
  if (from.length === 0 && to.length === 0) return;
  if (from.length === 0) return comparison.found('typeAdded', path, `Values of type ${type} are now valid.`);
  if (to.length === 0) return comparison.found('typeRemoved', path, `Values of type ${type} are no longer valid.`);
  const { kept, removed, added } = pairAlternatives(
    { document: comparison.from, list: from },
    { document: comparison.to, list: to },
  );
  for (const [before, now] of kept) compareAlternative(comparison, path, before, now);
  for (const { schemas } of removed) {
    comparison.found('variantRemoved', path, `An alternative of type ${type}${titleOf(schemas)} was removed.`);
  }
  for (const { schemas } of added) {
    comparison.found('variantAdded', path, `An alternative of type ${type}${titleOf(schemas)} was added.`);
  }
}

function titleOf(schemas: Alternative['schemas']): string {
  const title = schemas.map((schema) => schema['title']).find((text) => typeof text === 'string');
  return title === undefined ? '' : ` (${JSON.stringify(title)})`;
}

/**
 * A `oneOf` rejects values that match several branches. If branches may overlap, an added branch can reject more
 * values.
 */
function compareExclusivity(comparison: Comparison, path: string, from: Alternatives, to: Alternatives): void {
  const before = from.exclusive && overlaps(comparison.from, from);
  const now = to.exclusive && overlaps(comparison.to, to);
  if (now && (!before || to.list.length > from.list.length)) {
    comparison.found('exclusive', path, 'Values that match several of the alternatives are now invalid.');
  }
  if (before && (!now || to.list.length < from.list.length)) {
    comparison.found('notExclusive', path, 'Values that match several of the alternatives are now valid.');
  }
}

function overlaps(document: SchemaDocument, { list }: Alternatives): boolean {
  return list.some((one, i) => list.slice(i + 1).some((other) => !areDisjoint(document, one, other)));
}

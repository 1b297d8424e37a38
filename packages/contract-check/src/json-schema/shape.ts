import { isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { listMember, objectMember } from './conjunction.ts';
import { never, schemas, type Schema } from './schema-document.ts';

/** Names of the properties under `properties`, without those that are only forbidden. */
export function declaredProperties(all: readonly Schema[]): Set<string> {
  const names = new Set(membersOf(all, 'properties').map(([name]) => name));
  return new Set([...names].filter((name) => !propertySchemas(all, name).includes(never)));
}

/** The members of the objects that are the values of keywords. */
function membersOf(all: readonly Schema[], ...keywords: readonly string[]): [name: string, JsonValue][] {
  return all.flatMap((schema) => keywords.flatMap((keyword) => Object.entries(objectMember(schema, keyword))));
}

/** The schemas that the property must match. Empty if any value is valid. */
export function propertySchemas(all: readonly Schema[], name: string): readonly Schema[] {
  return all.flatMap((schema) => {
    const declared = ownMember(objectMember(schema, 'properties'), name);
    const patterned = Object.entries(objectMember(schema, 'patternProperties')).filter(([pattern]) =>
      matches(pattern, name),
    );
    if (declared === undefined && patterned.length === 0) return schemas(ownMember(schema, 'additionalProperties'));
    return [...schemas(declared), ...patterned.flatMap(([, value]) => schemas(value))];
  });
}

/** The schemas that an undeclared property must match. */
export function otherPropertySchemas(all: readonly Schema[]): readonly Schema[] {
  return all.flatMap((schema) => schemas(ownMember(schema, 'additionalProperties')));
}

/** The number of leading items with their own schemas. */
export function prefixLength(all: readonly Schema[]): number {
  return Math.max(0, ...all.map((schema) => prefixOf(schema).length));
}

/** The schemas that the item at an index must match. */
export function itemSchemas(all: readonly Schema[], index: number): readonly Schema[] {
  return all.flatMap((schema) => schemas(prefixOf(schema)[index] ?? restOf(schema)));
}

/** The schemas that an item after every prefix must match. */
export function otherItemSchemas(all: readonly Schema[]): readonly Schema[] {
  return itemSchemas(all, Number.POSITIVE_INFINITY);
}

function prefixOf(schema: Schema): readonly JsonValue[] {
  // Before draft 2020-12, a list under `items` had the meaning of `prefixItems`.
  return Array.isArray(schema['items']) ? listMember(schema, 'items') : listMember(schema, 'prefixItems');
}

/** The schema of the items after the prefix. */
export function restOf(schema: Schema): JsonValue | undefined {
  return Array.isArray(schema['items']) ? ownMember(schema, 'additionalItems') : ownMember(schema, 'items');
}

/** Names of the required properties. */
export function requiredProperties(all: readonly Schema[]): Set<string> {
  return new Set(all.flatMap((schema) => listMember(schema, 'required')).filter((name) => typeof name === 'string'));
}

/** The dependencies between property names, printed as `"trigger" on "required"`. */
export function dependentNames(all: readonly Schema[]): Set<string> {
  const found = membersOf(all, 'dependentRequired', 'dependencies').flatMap(([trigger, names]) =>
    Array.isArray(names) ? names.map((name) => `${JSON.stringify(trigger)} on ${JSON.stringify(name)}`) : [],
  );
  return new Set(found);
}

/** The schemas that an object must match if it has a property, by the name of the property. */
export function dependentSchemas(all: readonly Schema[]): Map<string, readonly Schema[]> {
  return schemasByName(membersOf(all, 'dependentSchemas', 'dependencies'));
}

export function patternSchemas(all: readonly Schema[]): Map<string, readonly Schema[]> {
  return schemasByName(membersOf(all, 'patternProperties'));
}

function schemasByName(members: readonly [name: string, JsonValue][]): Map<string, readonly Schema[]> {
  const found = members.filter(([, value]) => isJsonObject(value) || typeof value === 'boolean');
  const byName = Map.groupBy(found, ([name]) => name);
  return new Map(Array.from(byName, ([name, each]) => [name, each.flatMap(([, value]) => schemas(value))]));
}

function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    // Not a regular expression in JavaScript. comparePatterned still compares it by its text.
    return false;
  }
}

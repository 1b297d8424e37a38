import { isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { listMember, objectMember } from './conjunction.ts';
import { never, schemas, type Schema } from './schema-document.ts';

/** Names of the properties under `properties`, without those that are only forbidden. */
export function declaredProperties(all: readonly Schema[]): Set<string> {
  const names = new Set<string>();
  for (const schema of all) for (const name of Object.keys(objectMember(schema, 'properties'))) names.add(name);
  for (const name of names) if (propertySchemas(all, name).includes(never)) names.delete(name);
  return names;
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
  const found = new Set<string>();
  for (const schema of all) {
    for (const keyword of ['dependentRequired', 'dependencies']) {
      for (const [trigger, names] of Object.entries(objectMember(schema, keyword))) {
        if (!Array.isArray(names)) continue;
        for (const name of names) found.add(`${JSON.stringify(trigger)} on ${JSON.stringify(name)}`);
      }
    }
  }
  return found;
}

/** The schemas that an object must match if it has a property, by the name of the property. */
export function dependentSchemas(all: readonly Schema[]): Map<string, readonly Schema[]> {
  return named(all, ['dependentSchemas', 'dependencies']);
}

export function patternSchemas(all: readonly Schema[]): Map<string, readonly Schema[]> {
  return named(all, ['patternProperties']);
}

function named(all: readonly Schema[], keywords: readonly string[]): Map<string, readonly Schema[]> {
  const found = new Map<string, readonly Schema[]>();
  for (const schema of all) {
    for (const [name, value] of keywords.flatMap((keyword) => Object.entries(objectMember(schema, keyword)))) {
      if (isJsonObject(value) || typeof value === 'boolean')
        found.set(name, [...(found.get(name) ?? []), ...schemas(value)]);
    }
  }
  return found;
}

function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    // Not a regular expression in JavaScript. comparePatterned still compares it by its text.
    return false;
  }
}

import { isJsonObject, ownMember, type JsonValue } from '../json/json-value.ts';
import { listMember, objectMember } from './conjunction.ts';
import { never, schemas, type Schema } from './schema-document.ts';

/** Names of the properties that are declared: under `properties`, and not only to forbid them. */
export function declaredProperties(all: readonly Schema[]): Set<string> {
  const names = new Set<string>();
  for (const schema of all) for (const name of Object.keys(objectMember(schema, 'properties'))) names.add(name);
  for (const name of names) if (propertySchemas(all, name).includes(never)) names.delete(name);
  return names;
}

/** All that a value must fit under this name. Empty: anything. */
export function propertySchemas(all: readonly Schema[], name: string): readonly Schema[] {
  const found = all.flatMap((schema) => evaluateProperty(schema, name) ?? []);
  const evaluated = all.some((schema) => evaluateProperty(schema, name) !== null);
  return evaluated ? found : [...found, ...all.flatMap((schema) => schemas(ownMember(schema, 'unevaluatedProperties')))];
}

/** Null: the schema by itself says nothing about the name. */
function evaluateProperty(schema: Schema, name: string): readonly Schema[] | null {
  const declared = ownMember(objectMember(schema, 'properties'), name);
  const patterned = Object.entries(objectMember(schema, 'patternProperties')).filter(([pattern]) => matches(pattern, name));
  if (declared === undefined && patterned.length === 0) {
    const rest = ownMember(schema, 'additionalProperties');
    return rest === undefined ? null : schemas(rest);
  }
  return [...schemas(declared), ...patterned.flatMap(([, value]) => schemas(value))];
}

/** All that a value must fit under a name that nothing mentions. */
export function otherPropertySchemas(all: readonly Schema[]): readonly Schema[] {
  const closing = all.map((schema) => ownMember(schema, 'additionalProperties')).filter((rest) => rest !== undefined);
  if (closing.length > 0) return closing.flatMap(schemas);
  return all.flatMap((schema) => schemas(ownMember(schema, 'unevaluatedProperties')));
}

/** How many items at the front have schemas of their own. */
export function prefixLength(all: readonly Schema[]): number {
  return Math.max(0, ...all.map((schema) => prefixOf(schema).length));
}

/** All that the item at this place must fit. */
export function itemSchemas(all: readonly Schema[], index: number): readonly Schema[] {
  const evaluated = all.some((schema) => index < prefixOf(schema).length || restOf(schema) !== undefined);
  const found = all.flatMap((schema) => schemas(prefixOf(schema)[index] ?? restOf(schema)));
  return evaluated ? found : all.flatMap((schema) => schemas(ownMember(schema, 'unevaluatedItems')));
}

/** All that an item behind every prefix must fit. */
export function otherItemSchemas(all: readonly Schema[]): readonly Schema[] {
  return itemSchemas(all, Number.POSITIVE_INFINITY);
}

function prefixOf(schema: Schema): readonly JsonValue[] {
  // Before draft 2020-12 a list under `items` was what `prefixItems` is now.
  return Array.isArray(schema['items']) ? listMember(schema, 'items') : listMember(schema, 'prefixItems');
}

function restOf(schema: Schema): JsonValue | undefined {
  return Array.isArray(schema['items']) ? ownMember(schema, 'additionalItems') : ownMember(schema, 'items');
}

/** Names that must be there. */
export function requiredProperties(all: readonly Schema[]): Set<string> {
  return new Set(all.flatMap((schema) => listMember(schema, 'required')).filter((name) => typeof name === 'string'));
}

/** `trigger` → what must hold when a property of that name is there: names, as texts, or schemas. */
export function dependentNames(all: readonly Schema[]): Set<string> {
  const found = new Set<string>();
  for (const schema of all) {
    for (const keyword of ['dependentRequired', 'dependencies']) {
      for (const [trigger, names] of Object.entries(objectMember(schema, keyword))) {
        if (!Array.isArray(names)) continue;
        for (const name of names) found.add(`${JSON.stringify(trigger)} asks for ${JSON.stringify(name)}`);
      }
    }
  }
  return found;
}

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
      if (isJsonObject(value) || typeof value === 'boolean') found.set(name, [...(found.get(name) ?? []), ...schemas(value)]);
    }
  }
  return found;
}

function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    // Not a regular expression of ours. Its properties are compared by its text.
    return false;
  }
}

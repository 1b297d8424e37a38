import { canonicalJson, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { sizeOf } from './budget.ts';
import { referenceKeywords, schemas, type Schema, type SchemaDocument } from './schema-document.ts';

/** An `anyOf` or `oneOf`. */
export interface Choice {
  readonly branches: readonly JsonValue[];
  /** Whether a value may match only one branch (`oneOf`). */
  readonly exclusive: boolean;
}

/** The schemas and the choices that must all match if some schemas do. References and `allOf` are already resolved. */
export function conjunctionOf(document: SchemaDocument, start: readonly Schema[]) {
  const seen = new Set<Schema>();
  const found: Schema[] = [];
  const choices: Choice[] = [];
  // Reversed because `pop` takes from the end. This keeps the order of the document.
  const pending = start.toReversed();
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    document.budget.spend(sizeOf(schema));
    const next: Schema[] = [];
    for (const keyword of referenceKeywords) {
      next.push(...(document.target(schema, keyword) ?? []));
    }
    if (!(document.refHidesSiblings && Object.hasOwn(schema, '$ref'))) {
      found.push(schema);
      for (const each of listMember(schema, 'allOf').flatMap(schemas)) next.push(each);
      if (Object.hasOwn(schema, 'anyOf')) choices.push({ branches: listMember(schema, 'anyOf'), exclusive: false });
      if (Object.hasOwn(schema, 'oneOf')) choices.push({ branches: listMember(schema, 'oneOf'), exclusive: true });
    }
    // Not by push(...next): a list of 100,000 arguments overflows the stack.
    for (const each of next.toReversed()) pending.push(each);
  }
  return { schemas: found, choices };
}

export function listMember(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const value = ownMember(schema, keyword);
  return Array.isArray(value) ? value : [];
}

export function objectMember(schema: JsonObject, keyword: string): JsonObject {
  const value = ownMember(schema, keyword);
  return isJsonObject(value) ? value : {};
}

/** The values of a keyword in all schemas, as canonical JSON. */
export function keywordValues(all: readonly Schema[], keyword: string): Set<string> {
  return new Set(
    all
      .map((schema) => ownMember(schema, keyword))
      .filter((value) => value !== undefined)
      .map(canonicalJson),
  );
}

/** Null if there are no values. */
export function show(values: Iterable<string>): string | null {
  const texts = [...values].toSorted();
  return texts.length === 0 ? null : texts.join(' and ');
}

import { isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { referenceKeywords, schemas, type Schema, type SchemaDocument } from './schema-document.ts';

/** An `anyOf` or `oneOf`. */
export interface Choice {
  readonly branches: readonly JsonValue[];
  /** Whether a value may match only one branch (`oneOf`). */
  readonly exclusive: boolean;
}

/** Schemas that must all match. References and `allOf` are already resolved. */
export interface Conjunction {
  readonly schemas: readonly Schema[];
  readonly choices: readonly Choice[];
}

export function conjunctionOf(document: SchemaDocument, start: readonly Schema[]): Conjunction {
  const seen = new Set<Schema>();
  const found: Schema[] = [];
  const choices: Choice[] = [];
  // Reversed because `pop` takes from the end. This keeps the order of the document.
  const pending = start.toReversed();
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    const next: Schema[] = [];
    for (const keyword of referenceKeywords) {
      next.push(...(document.target(schema, keyword) ?? []));
    }
    if (!(document.refHidesSiblings && Object.hasOwn(schema, '$ref'))) {
      found.push(schema);
      next.push(...listMember(schema, 'allOf').flatMap(schemas));
      if (Object.hasOwn(schema, 'anyOf')) choices.push({ branches: listMember(schema, 'anyOf'), exclusive: false });
      if (Object.hasOwn(schema, 'oneOf')) choices.push({ branches: listMember(schema, 'oneOf'), exclusive: true });
    }
    pending.push(...next.toReversed());
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

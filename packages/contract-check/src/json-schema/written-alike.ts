import { canonicalJson, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { innerSchemas, isDocumentation, naming, subschemaKeywords } from './keywords.ts';
import { referenceKeywords, type Schema, type SchemaDocument } from './schema-document.ts';

/** Whether two schemas and what they contain and refer to have the same keywords, apart from documentation and names. */
export function areWrittenAlike(from: SchemaDocument, one: Schema, to: SchemaDocument, other: Schema): boolean {
  const seen = new Map<Schema, Set<Schema>>();
  const pairs: (readonly [JsonValue, JsonValue])[] = [[one, other]];
  // Appended to during the loop.
  for (const [a, b] of pairs) {
    if (!isJsonObject(a) || !isJsonObject(b)) {
      if (canonicalJson(a) !== canonicalJson(b)) return false;
      continue;
    }
    const partners = seen.get(a) ?? new Set();
    if (partners.has(b)) continue;
    seen.set(a, partners.add(b));
    const [own, others] = [partsOf(from, a), partsOf(to, b)];
    if (own.size !== others.size) return false;
    for (const [place, part] of own) {
      const counterpart = others.get(place);
      if (counterpart === undefined) return false;
      pairs.push([part, counterpart]);
    }
  }
  return true;
}

/** The schemas in a schema, those that it refers to, and the texts of its other keywords, each by its place. */
function partsOf(document: SchemaDocument, schema: Schema): Map<string, JsonValue> {
  const parts = new Map<string, JsonValue>();
  for (const [keyword, value] of Object.entries(schema)) {
    if (naming.has(keyword) || isDocumentation(keyword)) continue;
    const isInner = subschemaKeywords.has(keyword);
    parts.set(keyword, isInner ? true : canonicalJson(value));
    for (const [name, inner] of innerSchemas(keyword, value)) parts.set(`${keyword}/${name ?? ''}`, inner);
  }
  // A reference does not count itself, but its target.
  for (const keyword of referenceKeywords) {
    const targets = document.target(schema, keyword);
    if (targets !== null) parts.set(keyword, targets[0] ?? true);
  }
  return parts;
}

import { canonicalJson, isJsonObject, type JsonValue } from '../json/json-value.ts';
import { remembered } from '../remembered.ts';
import { coinductive } from './coinduction.ts';
import { innerSchemas, isDocumentation, naming, subschemaKeywords } from './keywords.ts';
import { referenceKeywords, type Schema, type SchemaDocument } from './schema-document.ts';

export type AreAlike = (one: Schema, other: Schema) => boolean;

/** Returns whether two schemas and what they contain and refer to have the same keywords, apart from names. */
export function writtenAlike(
  from: SchemaDocument,
  to: SchemaDocument,
  documentation: 'compared' | 'ignored',
): AreAlike {
  const numberOf = numbering();
  const partsOf = remembered((schema: Schema, document: SchemaDocument) => readParts(document, schema, documentation));
  const areAlike = coinductive<readonly [Schema, Schema]>(
    (pair) => pair.map(numberOf).join(),
    ([one, other], areAssumedAlike) => {
      const [own, others] = [partsOf(one, from), partsOf(other, to)];
      const isAlike = ([place, part]: readonly [string, JsonValue]): boolean => {
        const counterpart = others.get(place);
        if (isJsonObject(part) && isJsonObject(counterpart)) return areAssumedAlike([part, counterpart]);
        return counterpart !== undefined && canonicalJson(part) === canonicalJson(counterpart);
      };
      return own.size === others.size && [...own].every(isAlike);
    },
  );
  return (one, other) => areAlike([one, other]);
}

/** Returns a function that numbers objects, so that a text can identify several. */
export function numbering(): (each: object) => number {
  const numbers = new Map<object, number>();
  return (each) => {
    const number = numbers.get(each) ?? numbers.size;
    numbers.set(each, number);
    return number;
  };
}

/**
 * The schemas in a schema, those that it refers to, and the texts of its other keywords, each by its place. A place is JSON,
 * because a keyword can be any text.
 */
function readParts(document: SchemaDocument, schema: Schema, documentation: 'compared' | 'ignored') {
  const parts = new Map<string, JsonValue>();
  const add = (part: JsonValue, ...place: readonly (string | null)[]) => parts.set(JSON.stringify(place), part);
  for (const [keyword, value] of Object.entries(schema)) {
    if (naming.has(keyword) || (documentation === 'ignored' && isDocumentation(keyword))) continue;
    const isInner = subschemaKeywords.has(keyword);
    add(isInner ? true : canonicalJson(value), keyword);
    for (const [name, inner] of innerSchemas(keyword, value)) add(inner, keyword, name);
  }
  // A keyword can have another meaning in each draft. The `$schema` of the first file is compared once.
  const dialect = document.dialectOf(schema);
  add(dialect === document.dialect ? null : dialect, '$schema');
  // A reference does not count itself, but its target.
  for (const keyword of referenceKeywords) {
    const targets = document.target(schema, keyword);
    if (targets !== null) add(targets[0] ?? true, keyword);
  }
  return parts;
}

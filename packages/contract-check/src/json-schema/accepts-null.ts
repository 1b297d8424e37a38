import { ownMember, type JsonValue } from '../json/json-value.ts';
import { sizeOf } from './budget.ts';
import { listMember } from './conjunction.ts';
import { referenceKeywords, schemas, type Schema, type SchemaDocument } from './schema-document.ts';

/** Whether null is valid. Evaluates the schemas like a validator, so that every notation of null is covered. */
export function acceptsNull(document: SchemaDocument, all: readonly Schema[]): boolean {
  const active = new Set<Schema>();

  function accepts(value: JsonValue | undefined): boolean {
    return schemas(value).every(acceptsOne);
  }

  function acceptsOne(schema: Schema): boolean {
    // A branch that refers back to its own choice does not make a value valid.
    if (active.has(schema)) return false;
    active.add(schema);
    document.budget.spend(sizeOf(schema));
    try {
      return evaluate(schema);
    } finally {
      active.delete(schema);
    }
  }

  function evaluate(schema: Schema): boolean {
    if (!referenceKeywords.every((keyword) => (document.target(schema, keyword) ?? []).every(acceptsOne))) return false;
    if (document.refHidesSiblings && Object.hasOwn(schema, '$ref')) return true;
    return (
      allowedByValue(schema) &&
      listMember(schema, 'allOf').every(accepts) &&
      (!Object.hasOwn(schema, 'anyOf') || listMember(schema, 'anyOf').some(accepts)) &&
      (!Object.hasOwn(schema, 'oneOf') || listMember(schema, 'oneOf').filter(accepts).length === 1) &&
      (!Object.hasOwn(schema, 'not') || !accepts(schema['not'])) &&
      (!Object.hasOwn(schema, 'if') || accepts(accepts(schema['if']) ? schema['then'] : schema['else']))
    );
  }

  return all.every(acceptsOne);
}

function allowedByValue(schema: Schema): boolean {
  // OpenAPI 3.0: `nullable` next to `type` allows null even if `enum` does not list it.
  if (ownMember(schema, 'nullable') === true && Object.hasOwn(schema, 'type')) return true;
  const type = ownMember(schema, 'type');
  if (type !== undefined && type !== 'null' && !(Array.isArray(type) && type.includes('null'))) return false;
  if (Object.hasOwn(schema, 'enum') && !listMember(schema, 'enum').includes(null)) return false;
  return !Object.hasOwn(schema, 'const') || schema['const'] === null;
}

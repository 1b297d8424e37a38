import { ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { conjunctionOf, objectMember } from './conjunction.ts';
import { schemas, type Schema, type SchemaDocument } from './schema-document.ts';
import { prefixLength, restOf } from './shape.ts';
import type { InstanceType } from './value-set.ts';

interface Kind {
  readonly keyword: string;
  /** Whether a schema evaluates every property or item, apart from the keyword. */
  isComplete(schema: Schema): boolean;
  /** The schema that applies `rest` to what none of the schemas evaluates. */
  closing(evaluating: readonly Schema[], rest: JsonValue): Schema;
  /** Whether a schema evaluates a property or item to which `closing` applies `rest`. */
  evaluatesMore(schema: Schema, closing: Schema): boolean;
}

const named = ['properties', 'patternProperties'] as const;

const kinds: Partial<Record<InstanceType, Kind>> = {
  object: {
    keyword: 'unevaluatedProperties',
    isComplete: (schema) => Object.hasOwn(schema, 'additionalProperties'),
    closing(evaluating, rest) {
      const evaluated = (keyword: string): JsonObject =>
        Object.fromEntries(
          evaluating.flatMap((schema) => Object.keys(objectMember(schema, keyword))).map((name) => [name, true]),
        );
      return {
        properties: evaluated('properties'),
        patternProperties: evaluated('patternProperties'),
        additionalProperties: rest,
      };
    },
    evaluatesMore: (schema, closing) =>
      named.some((keyword) =>
        Object.keys(objectMember(schema, keyword)).some((name) => !Object.hasOwn(objectMember(closing, keyword), name)),
      ),
  },
  array: {
    keyword: 'unevaluatedItems',
    isComplete: (schema) => restOf(schema) !== undefined,
    closing: (evaluating, rest) => ({
      prefixItems: Array.from({ length: prefixLength(evaluating) }, () => true),
      items: rest,
    }),
    // Since 2020-12, the items that match `contains` are evaluated.
    evaluatesMore: (schema, closing) =>
      Object.hasOwn(schema, 'contains') || prefixLength([schema]) > prefixLength([closing]),
  },
};

/**
 * Replaces `unevaluatedProperties` and `unevaluatedItems` each by a schema without the keyword, except in the schemas in which it
 * depends on a condition (`unresolved`). A property is evaluated if the schema with the keyword declares
 * it, a schema that it refers to, or a branch of one of them. A schema next to it does not count.
 *
 * @param all schemas that must all match: of every choice, one branch
 */
export function resolveUnevaluated(document: SchemaDocument, all: readonly Schema[], type: InstanceType) {
  const kind = kinds[type];
  const added: Schema[] = [];
  const unresolved: Schema[] = [];
  for (const schema of all) {
    const rest = kind === undefined ? undefined : ownMember(schema, kind.keyword);
    if (kind === undefined || rest === undefined || rest === true) continue;
    const { certain, possible } = schemasInside(document, schema, new Set(all));
    const evaluatesAll = (each: Schema): boolean =>
      kind.isComplete(each) || (each !== schema && Object.hasOwn(each, kind.keyword));
    if (certain.some(evaluatesAll)) continue;
    const closing = kind.closing(certain, rest);
    const depends = [...certain, ...possible].some((each) => evaluatesAll(each) || kind.evaluatesMore(each, closing));
    if (depends) unresolved.push(schema);
    else added.push(closing);
  }
  return { schemas: [...all, ...added], unresolved };
}

/** The schemas for the same value as the schema around them: that match whenever it does, and that may match. */
function schemasInside(document: SchemaDocument, schema: Schema, matching: ReadonlySet<Schema>) {
  const certain = new Set<Schema>([schema]);
  const possible = new Set<Schema>();
  // Appended to during the loop.
  for (const each of certain) {
    const { schemas: found, choices } = conjunctionOf(document, [each]);
    for (const other of found) certain.add(other);
    for (const { branches, exclusive } of choices) {
      for (const branch of branches.flatMap(schemas)) {
        if (matching.has(branch)) certain.add(branch);
        // The other branches of a `oneOf` do not match.
        else if (!exclusive) possible.add(branch);
      }
    }
    for (const other of conditional(each)) possible.add(other);
  }
  for (const each of possible) {
    const { schemas: found, choices } = conjunctionOf(document, [each]);
    for (const other of [
      ...found,
      ...choices.flatMap(({ branches }) => branches.flatMap(schemas)),
      ...conditional(each),
    ])
      possible.add(other);
  }
  return { certain: [...certain], possible: [...possible].filter((each) => !certain.has(each)) };
}

function conditional(schema: Schema): readonly Schema[] {
  const dependent = ['dependentSchemas', 'dependencies'].flatMap((keyword) =>
    Object.values(objectMember(schema, keyword)),
  );
  return [...['if', 'then', 'else'].map((keyword) => ownMember(schema, keyword)), ...dependent].flatMap(schemas);
}

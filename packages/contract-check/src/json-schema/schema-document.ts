import { locationAt, type Location, type Notice } from '../change.ts';
import { withinStack } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { SourceText } from '../text-file.ts';
import { Budget, type SharedSteps } from './budget.ts';
import { external, naming } from './keywords.ts';
import { schemaFiles } from './schema-files.ts';
import {
  SchemaIndex,
  atFragment,
  fail,
  fragmentOf,
  resolveAddress,
  withoutFragment,
  type Schema,
} from './schema-index.ts';

export type { Schema } from './schema-index.ts';

/** The schema that no value matches. */
export const never: JsonObject = { not: {} };

/** A JSON Schema with valid keywords and resolved references. */
export type SchemaDocument = ReturnType<typeof readSchemaDocument>;

export const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

type ReferenceKeyword = (typeof referenceKeywords)[number];

/**
 * Checks the keywords and resolves the references of a schema. Reads the other files that it refers to by a relative
 * path.
 *
 * @param isOld whether the schema is that of a former version, in which a name can be duplicate
 * @param shared the steps that its comparison shares with others
 */
export function readSchemaDocument(source: SourceText, isOld = false, shared: SharedSteps = { left: Infinity }) {
  const index = new SchemaIndex();
  /** What is not compared. */
  const notices: Notice[] = [];
  const files = schemaFiles(source, index, isOld ? notices : null);
  const { first } = files;
  const targets = new Map<Schema, Map<string, readonly Schema[]>>();

  function resolve(schema: Schema, reference: string): readonly Schema[] {
    const { pointer, resource: own } = index.places.get(schema) ?? fail(first, '', 'contains an unknown schema');
    const address = withoutFragment(reference);
    const wanted =
      address === ''
        ? own
        : (index.resourceAt(own.document, resolveAddress(address, own.address)) ??
          files.resourceAt(own, pointer, address, reference));
    if (wanted === null) {
      const location = { file: own.document.file, line: own.document.lineOf(pointer) };
      const message = `${pointer || 'The schema'} refers to ${JSON.stringify(reference)}, which is not in the files. Only a change of the reference itself is compared.`;
      notices.push({ location, message });
      return [{ [external]: resolveAddress(reference, own.address) }];
    }
    const fragment = fragmentOf(reference);
    const value = atFragment(wanted, fragment);
    if (value === undefined)
      fail(own.document, pointer, `refers to ${JSON.stringify(reference)}, which does not exist`);
    // A reference may point to a place outside the schema keywords, such as `components` in OpenAPI.
    index.add(wanted.document, value, `${index.places.get(wanted.root)?.pointer ?? ''}${fragment}`, wanted);
    return schemas(value);
  }

  /** A validator prefers the first schema with the anchor that it enters, and it enters the root before all others. */
  function dynamicTarget(schema: Schema, keyword: string, found: readonly Schema[]): readonly Schema[] {
    const reference = ownMember(schema, keyword);
    if (typeof reference !== 'string') return found;
    const isAnchor = (each: Schema): boolean =>
      keyword === '$dynamicRef'
        ? ownMember(each, '$dynamicAnchor') === fragmentOf(reference)
        : keyword === '$recursiveRef' && ownMember(each, '$recursiveAnchor') === true;
    if (!found.some(isAnchor)) return found;
    const candidates = [...index.places.keys()].filter(isAnchor);
    if (candidates.length === 1) return found;
    const preferred = candidates.find((each) => index.places.get(each)?.resource.root === first.value);
    if (preferred !== undefined) return [preferred];
    const { pointer, resource } = index.places.get(schema) ?? fail(first, '', 'contains an unknown schema');
    const several = `Several schemas have this anchor, so the target depends on the path of the validator`;
    const problem = `refers to ${JSON.stringify(reference)} with ${keyword}. ${several}. Declare the anchor in the root as well, or use $ref.`;
    return fail(resource.document, pointer, problem);
  }

  /** The place of a schema, or of a value inside it. Null if the schema or the value does not exist in the files. */
  function locationOf(schema: Schema, ...steps: readonly string[]): Location | null {
    const place = index.places.get(schema);
    if (place === undefined) return null;
    const { document } = place.resource;
    return locationAt(document.file, document.lineOf(steps.reduce(childPointer, place.pointer)));
  }

  /** Null if the schema does not have the keyword. */
  function target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null {
    const reference = ownMember(schema, keyword);
    if (typeof reference !== 'string') return null;
    const own = targets.get(schema) ?? new Map<string, readonly Schema[]>();
    const found = own.get(keyword) ?? resolve(schema, reference);
    targets.set(schema, own.set(keyword, found));
    return found;
  }

  // Every reference must resolve, even an unused one.
  for (const schema of index.places.keys()) for (const keyword of referenceKeywords) target(schema, keyword);
  // After all files are read: in each of them, a schema can replace a target.
  for (const [schema, own] of targets)
    for (const [keyword, found] of own) own.set(keyword, dynamicTarget(schema, keyword, found));
  const dialect = ownMember(first.value, '$schema') ?? null;

  return {
    file: first.file,
    budget: new Budget(first.file, shared),
    root: schemas(first.value),
    /** All object schemas in all files. */
    schemas: [...index.places.keys()],
    /** The `$schema` of the first file. Null if it has none. */
    dialect,
    /** The `$schema` that applies to a schema: that of the identified schema or of the file around it, or of the first file. */
    dialectOf: (schema: Schema): JsonValue => index.places.get(schema)?.resource.dialect ?? dialect,
    /** Whether a `$ref` disables the other keywords of its schema, as in drafts 3 to 7. False if no schema has such keywords. */
    refHidesSiblings:
      typeof dialect === 'string' && /draft-0[3-7]/.test(dialect) && [...index.places.keys()].some(hasRefWithSiblings),
    notices,
    target,
    locationOf,
  };
}

/** The other files to which a schema refers, directly or over several files, by path relative to its folder. */
export function referencedFiles({ readRelative, ...source }: SourceText): string[] {
  const isAlone = !/"\$(?:ref|dynamicRef|recursiveRef)"\s*:\s*"[^#"]/.test(source.text);
  if (isAlone || readRelative === undefined) return [];
  const found: string[] = [];
  const recording: SourceText = {
    ...source,
    readRelative(path) {
      found.push(path);
      return readRelative(path);
    },
  };
  withinStack(source.file, () => readSchemaDocument(recording));
  return found;
}

function hasRefWithSiblings(schema: Schema): boolean {
  return Object.hasOwn(schema, '$ref') && Object.keys(schema).some((name) => name !== '$ref' && !naming.has(name));
}

/** Converts a schema to a list of object schemas that must all match. `true` is an empty list. */
export function schemas(value: JsonValue | undefined): readonly Schema[] {
  if (isJsonObject(value)) return [value];
  return value === false ? [never] : [];
}

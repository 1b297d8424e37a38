import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { JsonDocument } from '../json/parse-json.ts';
import { expectedInstead, subschemaKeywords } from './keywords.ts';

/** The schema that no value matches. */
export const never: JsonObject = { not: {} };

/** An object schema. The function `schemas` converts boolean schemas. */
export type Schema = JsonObject;

/** A part of a document with an address (`$id`). References inside it are relative to the address. */
interface Resource {
  readonly root: Schema;
  /** Empty if the part has no address. */
  readonly address: string;
  readonly anchors: Map<string, Schema>;
}

/** A JSON Schema with valid keywords and resolved references. */
export interface SchemaDocument {
  readonly file: string;
  readonly root: readonly Schema[];
  /** Whether a `$ref` disables the other keywords of its schema, as in drafts 3 to 7. */
  readonly refHidesSiblings: boolean;
  /** Null if the schema does not have the keyword. */
  target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null;
}

export const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

type ReferenceKeyword = (typeof referenceKeywords)[number];

/**
 * Checks the keywords and resolves the references of a schema.
 *
 * @throws {InputError} when a keyword is invalid, or a reference does not resolve within the file.
 */
export function readSchemaDocument(document: JsonDocument): SchemaDocument {
  const places = new Map<Schema, { pointer: string; resource: Resource }>();
  const resources = new Map<string, Resource>();
  const targets = new Map<Schema, Map<string, readonly Schema[]>>();

  function fail(pointer: string, problem: string): never {
    throw new InputError(
      document.file,
      document.lineOf(pointer),
      `${pointer === '' ? 'the schema' : pointer} ${problem}`,
    );
  }

  /** Records a schema and all schemas inside it. */
  function walk(value: JsonValue, pointer: string, around: Resource | null): void {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) fail(pointer, 'must be a schema: an object, true or false');
    if (places.has(value)) return;
    const resource = resourceOf(value, around);
    places.set(value, { pointer, resource });
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownMember(value, keyword);
      if (typeof anchor === 'string') resource.anchors.set(anchor, value);
    }
    for (const [keyword, member] of Object.entries(value)) {
      const at = childPointer(pointer, keyword);
      const expected = expectedInstead(keyword, member);
      if (expected !== null) fail(at, `must be ${expected}`);
      walkKeyword(keyword, member, at, resource);
    }
  }

  function walkKeyword(keyword: string, member: JsonValue, pointer: string, resource: Resource): void {
    const subschemas = subschemaKeywords.get(keyword);
    if (subschemas === undefined) return;
    if (subschemas === 'one' || (subschemas === 'one or list' && !Array.isArray(member))) {
      walk(member, pointer, resource);
      return;
    }
    for (const [name, each] of Object.entries(member ?? {})) {
      if (subschemas === 'named, or names' && Array.isArray(each)) continue;
      walk(each, childPointer(pointer, name), resource);
    }
  }

  function resourceOf(schema: Schema, around: Resource | null): Resource {
    const id = ownMember(schema, '$id') ?? ownMember(schema, 'id');
    // Drafts 4 to 7 write an anchor as `#name`.
    if (typeof id === 'string' && id.startsWith('#') && around !== null) around.anchors.set(id.slice(1), schema);
    if (around !== null && (typeof id !== 'string' || id.startsWith('#') || !Object.hasOwn(schema, '$id')))
      return around;
    const address = typeof id === 'string' ? resolveAddress(id, around?.address ?? '') : '';
    const resource: Resource = { root: schema, address: withoutFragment(address), anchors: new Map() };
    resources.set(resource.address, resource);
    return resource;
  }

  function resolve(schema: Schema, reference: string): readonly Schema[] {
    const place = places.get(schema);
    const pointer = place?.pointer ?? '';
    const address = withoutFragment(reference);
    const own = place?.resource;
    const wanted = address === '' ? own : resources.get(resolveAddress(address, own?.address ?? ''));
    if (wanted === undefined) {
      fail(
        pointer,
        `refers to ${JSON.stringify(reference)}, which is not in this file. Bundle the schema into one file.`,
      );
    }
    const value = atFragment(wanted, fragmentOf(reference));
    if (value === undefined) fail(pointer, `refers to ${JSON.stringify(reference)}, which does not exist`);
    // A reference may point to a place outside the schema keywords, such as `components` in OpenAPI.
    walk(value, `${places.get(wanted.root)?.pointer ?? ''}${fragmentOf(reference)}`, wanted);
    return schemas(value);
  }

  function target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null {
    const reference = ownMember(schema, keyword);
    if (typeof reference !== 'string') return null;
    const own = targets.get(schema) ?? new Map<string, readonly Schema[]>();
    const found = own.get(keyword) ?? resolve(schema, reference);
    targets.set(schema, own.set(keyword, found));
    return found;
  }

  if (typeof document.value !== 'boolean' && !isJsonObject(document.value)) {
    fail('', 'must be an object, true or false');
  }
  walk(document.value, '', null);
  // Every reference must resolve, even an unused one. Resolving can add places, which this loop also visits.
  for (const schema of places.keys()) for (const keyword of referenceKeywords) target(schema, keyword);
  const dialect = isJsonObject(document.value) ? ownMember(document.value, '$schema') : undefined;

  return {
    file: document.file,
    root: schemas(document.value),
    refHidesSiblings: typeof dialect === 'string' && /draft-0[3-7]/.test(dialect),
    target,
  };
}

/** Converts a schema to a list of object schemas that must all match. `true` is an empty list. */
export function schemas(value: JsonValue | undefined): readonly Schema[] {
  if (isJsonObject(value)) return [value];
  return value === false ? [never] : [];
}

function atFragment({ root, anchors }: Resource, fragment: string): JsonValue | undefined {
  if (fragment === '') return root;
  if (!fragment.startsWith('/')) return anchors.get(fragment);
  let value: JsonValue | undefined = root;
  for (const step of fragment.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? value[Number(key)] : undefined;
    else value = isJsonObject(value) ? ownMember(value, key) : undefined;
  }
  return value;
}

function resolveAddress(address: string, base: string): string {
  return URL.canParse(address, base === '' ? undefined : base)
    ? new URL(address, base === '' ? undefined : base).href
    : address;
}

function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

function fragmentOf(reference: string): string {
  const at = reference.indexOf('#');
  if (at === -1) return '';
  const fragment = reference.slice(at + 1);
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

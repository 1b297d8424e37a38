import { posix } from 'node:path';
import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import type { Location } from '../location.ts';
import type { SourceText } from '../text-file.ts';
import { expectedInstead, subschemaKeywords } from './keywords.ts';

/** The schema that no value matches. */
export const never: JsonObject = { not: {} };

/** An object schema. The function `schemas` converts boolean schemas. */
export type Schema = JsonObject;

/** A part of a document with an address (`$id`). References inside it are relative to the address. */
interface Resource {
  readonly root: Schema;
  readonly document: SourceDocument;
  /** Empty if the part has no address. */
  readonly address: string;
  readonly anchors: Map<string, Schema>;
}

/** A parsed file, and how to read the files around it. */
interface SourceDocument extends JsonDocument {
  readonly readRelative: SourceText['readRelative'];
  /** The path of the file relative to the first file. Empty for the first file. */
  readonly path: string;
}

/** A JSON Schema with valid keywords and resolved references. */
export interface SchemaDocument {
  readonly file: string;
  readonly root: readonly Schema[];
  /** Whether a `$ref` disables the other keywords of its schema, as in drafts 3 to 7. */
  readonly refHidesSiblings: boolean;
  /** Null if the schema does not have the keyword. */
  target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null;
  /** The place of a schema, or of a value inside it. Null if the schema or the value does not exist in the files. */
  locationOf(schema: Schema, ...steps: readonly string[]): Location | null;
}

export const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

type ReferenceKeyword = (typeof referenceKeywords)[number];

/**
 * Checks the keywords and resolves the references of a schema. Reads the other files that it refers to by a relative
 * path.
 *
 * @throws {InputError} when a keyword is invalid, or a reference does not resolve.
 */
export function readSchemaDocument(source: SourceText): SchemaDocument {
  const places = new Map<Schema, { pointer: string; resource: Resource }>();
  const resources = new Map<string, Resource>();
  const files = new Map<string, Resource>();
  const targets = new Map<Schema, Map<string, readonly Schema[]>>();

  /** Records a schema and all schemas inside it. */
  function walk(document: SourceDocument, value: JsonValue, pointer: string, around: Resource | null): void {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) fail(document, pointer, 'must be a schema: an object, true or false');
    if (places.has(value)) return;
    const resource = resourceOf(document, value, around);
    places.set(value, { pointer, resource });
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownMember(value, keyword);
      if (typeof anchor === 'string') resource.anchors.set(anchor, value);
    }
    for (const [keyword, member] of Object.entries(value)) {
      const at = childPointer(pointer, keyword);
      const expected = expectedInstead(keyword, member);
      if (expected !== null) fail(document, at, `must be ${expected}`);
      walkKeyword(keyword, member, at, resource);
    }
  }

  function walkKeyword(keyword: string, member: JsonValue, pointer: string, resource: Resource): void {
    const subschemas = subschemaKeywords.get(keyword);
    if (subschemas === undefined) return;
    if (subschemas === 'one' || (subschemas === 'one or list' && !Array.isArray(member))) {
      walk(resource.document, member, pointer, resource);
      return;
    }
    for (const [name, each] of Object.entries(member ?? {})) {
      if (subschemas === 'named, or names' && Array.isArray(each)) continue;
      walk(resource.document, each, childPointer(pointer, name), resource);
    }
  }

  function resourceOf(document: SourceDocument, schema: Schema, around: Resource | null): Resource {
    const id = ownMember(schema, '$id') ?? ownMember(schema, 'id');
    // Drafts 4 to 7 write an anchor as `#name`.
    if (typeof id === 'string' && id.startsWith('#') && around !== null) around.anchors.set(id.slice(1), schema);
    if (around !== null && (typeof id !== 'string' || id.startsWith('#') || !Object.hasOwn(schema, '$id')))
      return around;
    const address = typeof id === 'string' ? resolveAddress(id, around?.address ?? '') : '';
    const resource: Resource = { root: schema, document, address: withoutFragment(address), anchors: new Map() };
    resources.set(resource.address, resource);
    return resource;
  }

  function resolve(schema: Schema, reference: string): readonly Schema[] {
    const { pointer, resource: own } = places.get(schema) ?? fail(first, '', 'contains an unknown schema');
    const address = withoutFragment(reference);
    const wanted =
      address === ''
        ? own
        : (resources.get(resolveAddress(address, own.address)) ?? resourceInFile(own, pointer, address, reference));
    if (wanted === null) return [];
    const value = atFragment(wanted, fragmentOf(reference));
    if (value === undefined)
      fail(own.document, pointer, `refers to ${JSON.stringify(reference)}, which does not exist`);
    // A reference may point to a place outside the schema keywords, such as `components` in OpenAPI.
    walk(wanted.document, value, `${places.get(wanted.root)?.pointer ?? ''}${fragmentOf(reference)}`, wanted);
    return schemas(value);
  }

  /** The schema in another file, by its path relative to this one. Null for the schema `true`. */
  function resourceInFile(own: Resource, pointer: string, address: string, reference: string): Resource | null {
    const path = pathOf(address, own);
    const known = files.get(path ?? '');
    if (known !== undefined) return known;
    if (path === null || source.readRelative === undefined) {
      fail(
        own.document,
        pointer,
        `refers to ${JSON.stringify(reference)}, which is not in this file. Refer to a file by a relative path, or bundle the schema into one file.`,
      );
    }
    const text = readReferenced(path, own, pointer, reference);
    const document = readFile(text, path);
    if (!isJsonObject(document.value)) fail(document, '', 'must be an object');
    walk(document, document.value, '', null);
    const resource = places.get(document.value)?.resource ?? null;
    if (resource !== null) files.set(path, resource);
    return resource;
  }

  function readReferenced(path: string, own: Resource, pointer: string, reference: string): SourceText {
    try {
      return source.readRelative?.(path) ?? fail(own.document, pointer, 'cannot be read');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return fail(own.document, pointer, `refers to ${JSON.stringify(reference)}: ${error.message}`);
    }
  }

  /**
   * The path of an address, relative to the first file. The files of schemas with a common base address are next to each
   * other. Null if the address is elsewhere.
   */
  function pathOf(address: string, own: Resource): string | null {
    if (!/^[a-z][a-z\d+.-]*:/i.test(address))
      return posix.join(posix.dirname(own.document.path), decode(address, decodeURI));
    const root = own.document.value;
    const rootAddress = isJsonObject(root) ? (places.get(root)?.resource.address ?? '') : '';
    const base = rootAddress.slice(0, rootAddress.lastIndexOf('/') + 1);
    if (base === '' || !address.startsWith(base)) return null;
    return posix.join(posix.dirname(own.document.path), decode(address.slice(base.length), decodeURI));
  }

  function locationOf(schema: Schema, ...steps: readonly string[]): Location | null {
    const place = places.get(schema);
    if (place === undefined) return null;
    const { document } = place.resource;
    const line = document.lineOf(steps.reduce(childPointer, place.pointer));
    return line === null ? null : { file: document.file, line };
  }

  function target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null {
    const reference = ownMember(schema, keyword);
    if (typeof reference !== 'string') return null;
    const own = targets.get(schema) ?? new Map<string, readonly Schema[]>();
    const found = own.get(keyword) ?? resolve(schema, reference);
    targets.set(schema, own.set(keyword, found));
    return found;
  }

  const first = readFile(source, '');
  if (typeof first.value !== 'boolean' && !isJsonObject(first.value)) {
    fail(first, '', 'must be an object, true or false');
  }
  walk(first, first.value, '', null);
  // Other files may refer back to this one.
  const firstResource = isJsonObject(first.value) ? places.get(first.value)?.resource : undefined;
  if (firstResource !== undefined) files.set(posix.basename(source.file), firstResource);
  // Every reference must resolve, even an unused one. Resolving can add places, which this loop also visits.
  for (const schema of places.keys()) for (const keyword of referenceKeywords) target(schema, keyword);
  const dialect = isJsonObject(first.value) ? ownMember(first.value, '$schema') : undefined;

  return {
    file: first.file,
    root: schemas(first.value),
    refHidesSiblings: typeof dialect === 'string' && /draft-0[3-7]/.test(dialect),
    target,
    locationOf,
  };
}

function fail(document: JsonDocument, pointer: string, problem: string): never {
  throw new InputError(
    document.file,
    document.lineOf(pointer),
    `${pointer === '' ? 'the schema' : pointer} ${problem}`,
  );
}

function readFile(text: SourceText, path: string): SourceDocument {
  return { ...parseJson(text), readRelative: text.readRelative, path };
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
  return decode(reference.slice(at + 1), decodeURIComponent);
}

/** Malformed percent-encoding stays as it is, so that the reference names nothing. */
function decode(text: string, by: (text: string) => string): string {
  try {
    return by(text);
  } catch {
    return text;
  }
}

import { posix } from 'node:path';
import { childPointer, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { failIn, type JsonDocument } from '../json/parse-json.ts';
import { expectedInstead, innerSchemas } from './keywords.ts';

/** An object schema. The function `schemas` converts boolean schemas. */
export type Schema = JsonObject;

/** A parsed file. */
export interface SourceDocument extends JsonDocument {
  /** The path of the file relative to the first file. Empty for the first file. */
  readonly path: string;
}

/** A part of a document with an address (`$id`, in draft 4 `id`). References inside it are relative to the address. */
export interface Resource {
  readonly root: Schema;
  readonly document: SourceDocument;
  /** Empty if the part has no address. */
  readonly address: string;
  /** The `$schema` that applies. Null if none is stated. */
  readonly dialect: JsonValue;
  readonly anchors: Map<string, Schema>;
}

/** Where a schema is: the pointer in its file, and the resource around it. */
interface IndexedSchema {
  readonly pointer: string;
  readonly resource: Resource;
}

/** The schemas of all files that were read, and the resources by address. */
export class SchemaIndex {
  /** Of each schema. An iteration includes those that are added during it. */
  readonly places = new Map<Schema, IndexedSchema>();
  readonly #resources = new Map<string, Resource>();

  /** Adds a schema and all inside it. `around` is the resource around it, null for the root of a file. */
  add(document: SourceDocument, value: JsonValue, pointer: string, around: Resource | null): void {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) fail(document, pointer, 'must be a schema: an object, true or false');
    if (this.places.has(value)) return;
    const resource = this.#resourceOf(document, value, around);
    this.places.set(value, { pointer, resource });
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownMember(value, keyword);
      if (typeof anchor === 'string') resource.anchors.set(anchor, value);
    }
    for (const [keyword, member] of Object.entries(value)) {
      const at = childPointer(pointer, keyword);
      const expected = expectedInstead(keyword, member);
      if (expected !== null) fail(document, at, `must be ${expected}`);
      for (const [name, inner] of innerSchemas(keyword, member)) {
        if (keyword === 'dependencies' && Array.isArray(inner)) continue;
        this.add(document, inner, name === null ? at : childPointer(at, name), resource);
      }
    }
  }

  /** The part of the files that has a resolved address. Undefined if no part of those that were read has it. */
  resourceAt(document: SourceDocument, address: string): Resource | undefined {
    return this.#resources.get(addressKey(document, address));
  }

  #resourceOf(document: SourceDocument, schema: Schema, around: Resource | null): Resource {
    const dialect = ownMember(schema, '$schema') ?? around?.dialect ?? null;
    const id = identifierOf(schema, around, dialect);
    const [base, own] = [around?.address ?? '', withoutFragment(id)];
    const address = own === '' ? base : resolveAddress(own, base);
    const resource =
      address === around?.address ? around : { root: schema, document, address, dialect, anchors: new Map() };
    if (resource !== around) this.#resources.set(addressKey(document, address), resource);
    // Drafts 4 to 7 write an anchor as `#name`.
    const anchor = fragmentOf(id);
    if (anchor !== '') resource.anchors.set(anchor, schema);
    return resource;
  }
}

/** The address of a schema, or the name of an anchor, as it is written. Empty if the schema itself has none. */
function identifierOf(schema: Schema, around: Resource | null, dialect: JsonValue): string {
  const [$id, id] = [ownMember(schema, '$id'), ownMember(schema, 'id')];
  if (typeof $id === 'string') return $id;
  if (typeof id !== 'string') return '';
  if (around === null || id.startsWith('#')) return id;
  // In the drafts with `id`, a `$ref` disables what is beside it.
  if (Object.hasOwn(schema, '$ref')) return '';
  const draft = typeof dialect === 'string' ? /^https?:\/\/json-schema\.org\/(.*)/.exec(dialect)?.[1] : undefined;
  // Draft 6 renamed `id`. Where no draft is stated, `id` can be a keyword of the authors, unless it is an address.
  const isIdentifier =
    draft === undefined ? isAbsolute(resolveAddress(id, around.address)) : /^draft-0[34]\b/.test(draft);
  return isIdentifier ? id : '';
}

/** An address that is no URL is relative to its file. In another file, the same text names something else. */
function addressKey({ path }: SourceDocument, address: string): string {
  return isAbsolute(address) ? address : JSON.stringify([path, address]);
}

function isAbsolute(address: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(address);
}

/** @throws {InputError} which names the place. */
export function fail(document: JsonDocument, pointer: string, problem: string): never {
  failIn(document, pointer, problem, 'the schema');
}

/** The value at the fragment of a reference. Undefined if it does not exist. */
export function atFragment({ root, anchors }: Resource, fragment: string): JsonValue | undefined {
  if (fragment === '') return root;
  if (!fragment.startsWith('/')) return anchors.get(fragment);
  let value: JsonValue | undefined = root;
  for (const step of fragment.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? value[Number(key)] : undefined;
    else value = ownMember(value, key);
  }
  return value;
}

/** Resolves an address against the address of the resource around it. An address that is no URL stays as it is. */
export function resolveAddress(address: string, base: string): string {
  const around = base === '' ? undefined : base;
  return URL.canParse(address, around) ? new URL(address, around).href : address;
}

export function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

/** The decoded fragment of a reference: a JSON Pointer or the name of an anchor. Empty if there is none. */
export function fragmentOf(reference: string): string {
  const at = reference.indexOf('#');
  return at === -1 ? '' : decode(reference.slice(at + 1), decodeURIComponent);
}

/**
 * The path of the file at an address, relative to the first file. The files of schemas with a common base address are next to
 * each other. Null if the address is elsewhere.
 *
 * @param documentPath the path of the file that refers to the address
 * @param rootAddress the address of the root of that file. Empty if it has none
 */
export function pathOf(address: string, documentPath: string, rootAddress: string): string | null {
  const folder = posix.dirname(documentPath);
  if (!isAbsolute(address)) return posix.join(folder, decode(address, decodeURI));
  const base = rootAddress.slice(0, rootAddress.lastIndexOf('/') + 1);
  if (base === '' || !address.startsWith(base)) return null;
  return posix.join(folder, decode(address.slice(base.length), decodeURI));
}

/** Malformed percent-encoding stays as it is, so that the reference names nothing. */
function decode(text: string, by: (text: string) => string): string {
  try {
    return by(text);
  } catch {
    return text;
  }
}

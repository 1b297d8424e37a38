import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { JsonDocument } from '../json/parse-json.ts';
import { misshapen, subschemaKeywords } from './keywords.ts';

/** The schema that allows nothing. */
export const never: JsonObject = { not: {} };

/** A schema that may be left out: `true` says nothing. */
export type Schema = JsonObject;

/** A part of a document with an address of its own (`$id`), to which references inside it are relative. */
interface Resource {
  readonly root: Schema;
  /** Empty: without an address. */
  readonly address: string;
  readonly anchors: Map<string, Schema>;
}

/** A JSON Schema of which every keyword has the right shape, with its references. */
export interface SchemaDocument {
  readonly file: string;
  readonly root: readonly Schema[];
  /** Up to draft 7 a `$ref` hides what stands beside it. */
  readonly refHidesSiblings: boolean;
  /** Null without a reference. */
  target(schema: Schema, keyword: ReferenceKeyword): readonly Schema[] | null;
}

export const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

type ReferenceKeyword = (typeof referenceKeywords)[number];

/** Throws an InputError; also when a reference leads nowhere, or to another file. */
export function readSchemaDocument(document: JsonDocument): SchemaDocument {
  const places = new Map<Schema, { pointer: string; resource: Resource }>();
  const resources = new Map<string, Resource>();
  const targets = new Map<Schema, Map<string, readonly Schema[]>>();

  function fail(pointer: string, problem: string): never {
    throw new InputError(document.file, document.lineOf(pointer), `${pointer === '' ? 'the schema' : pointer} ${problem}`);
  }

  /** Notes a schema and all schemas inside it. */
  function walk(value: JsonValue, pointer: string, around: Resource | null): void {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) fail(pointer, 'is not a schema: an object, true or false is expected');
    if (places.has(value)) return;
    const resource = resourceOf(value, around);
    places.set(value, { pointer, resource });
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = ownMember(value, keyword);
      if (typeof anchor === 'string') resource.anchors.set(anchor, value);
    }
    for (const [keyword, member] of Object.entries(value)) {
      const at = childPointer(pointer, keyword);
      const expected = misshapen(keyword, member);
      if (expected !== null) fail(at, `is not ${expected}`);
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
    // `#name` is how drafts 4 to 7 wrote an anchor.
    if (typeof id === 'string' && id.startsWith('#') && around !== null) around.anchors.set(id.slice(1), schema);
    if (around !== null && (typeof id !== 'string' || id.startsWith('#') || !Object.hasOwn(schema, '$id'))) return around;
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
      fail(pointer, `refers to ${JSON.stringify(reference)}, which is not in this file: bundle it, nothing is fetched`);
    }
    const value = atFragment(wanted, fragmentOf(reference));
    if (value === undefined) fail(pointer, `refers to ${JSON.stringify(reference)}, where there is nothing`);
    // A reference may lead to a place that no keyword calls a schema, such as `components` of OpenAPI.
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
    fail('', 'is not a schema: an object, true or false is expected');
  }
  walk(document.value, '', null);
  // Every reference must lead somewhere, used or not. What one leads to can be a new place: the walk goes on.
  for (const schema of places.keys()) for (const keyword of referenceKeywords) target(schema, keyword);
  const dialect = isJsonObject(document.value) ? ownMember(document.value, '$schema') : undefined;

  return {
    file: document.file,
    root: schemas(document.value),
    refHidesSiblings: typeof dialect === 'string' && /draft-0[3-7]/.test(dialect),
    target,
  };
}

/** A schema as a conjunction: `true` says nothing, `false` allows nothing. */
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
  return URL.canParse(address, base === '' ? undefined : base) ? new URL(address, base === '' ? undefined : base).href : address;
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

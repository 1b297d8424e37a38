import { posix } from 'node:path';
import { InputError } from '../input-error.ts';
import { isJsonObject } from '../json/json-value.ts';
import { parseJson, type OnDuplicate } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import { whyNoSchema } from './keywords.ts';
import { pathOf } from './schema-address.ts';
import { fail, type Resource, type SchemaIndex, type SourceDocument } from './schema-index.ts';

/** The files of a schema, each read once. */
export class SchemaFiles {
  readonly first: SourceDocument;
  readonly #source: SourceText;
  readonly #index: SchemaIndex;
  /** The resources at the roots of files, by the path relative to the first file. */
  readonly #roots = new Map<string, Resource>();

  readonly #onDuplicate: OnDuplicate | undefined;

  /** @throws {InputError} when the first file is not a valid schema. */
  constructor(source: SourceText, index: SchemaIndex, onDuplicate: OnDuplicate | undefined) {
    this.#source = source;
    this.#index = index;
    this.#onDuplicate = onDuplicate;
    this.first = { ...parseJson(source, onDuplicate), path: '' };
    const { value } = this.first;
    if (typeof value !== 'boolean' && !isJsonObject(value)) fail(this.first, '', 'must be an object, true or false');
    const problem = isJsonObject(value) ? whyNoSchema(value) : null;
    if (problem !== null) throw new InputError(source.file, 1, problem);
    index.add(this.first, value, '', null);
    // Other files may refer back to this one.
    this.#addRoot(posix.basename(source.file), this.first);
  }

  /**
   * The schema in another file that a reference names. Null if its address is not one of a file.
   *
   * @param own the resource that contains the reference, at `pointer`
   * @param address the reference without its fragment
   * @throws {InputError} when there is no such file.
   */
  resourceAt(own: Resource, pointer: string, address: string, reference: string): Resource | null {
    const root = own.document.value;
    const rootAddress = isJsonObject(root) ? (this.#index.placeOf(root)?.resource.address ?? '') : '';
    const path = pathOf(address, own.document.path, rootAddress);
    const known = this.#roots.get(path ?? '');
    if (known !== undefined) return known;
    if (path === null) return null;
    if (this.#source.readRelative === undefined) {
      fail(
        own.document,
        pointer,
        `refers to ${JSON.stringify(reference)}, which is not in this file. Refer to a file by a relative path, or bundle the schema into one file.`,
      );
    }
    const document = { ...parseJson(this.#read(path, own, pointer, reference), this.#onDuplicate), path };
    if (!isJsonObject(document.value)) fail(document, '', 'must be an object');
    this.#index.add(document, document.value, '', null);
    return this.#addRoot(path, document);
  }

  #read(path: string, own: Resource, pointer: string, reference: string): SourceText {
    try {
      return this.#source.readRelative?.(path) ?? fail(own.document, pointer, 'cannot be read');
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return fail(own.document, pointer, `refers to ${JSON.stringify(reference)}: ${error.message}`);
    }
  }

  #addRoot(path: string, { value }: SourceDocument): Resource | null {
    const resource = isJsonObject(value) ? this.#index.placeOf(value)?.resource : undefined;
    if (resource === undefined) return null;
    this.#roots.set(path, resource);
    return resource;
  }
}

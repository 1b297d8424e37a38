import { posix } from 'node:path';
import type { Notice } from '../change.ts';
import { InputError } from '../input-error.ts';
import { isJsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';
import { whyNoSchema } from './keywords.ts';
import { fail, pathOf, type Resource, type SchemaIndex, type SourceDocument } from './schema-index.ts';

/** The files of a schema, each read once. @throws {InputError} when the first one is not a valid schema. */
export function schemaFiles(source: SourceText, index: SchemaIndex, tolerated: Notice[] | null) {
  const first = { ...parseJson(source, tolerated), path: '' };
  if (typeof first.value !== 'boolean' && !isJsonObject(first.value))
    fail(first, '', 'must be an object, true or false');
  const problem = isJsonObject(first.value) ? whyNoSchema(first.value) : null;
  if (problem !== null) throw new InputError(source.file, 1, problem);
  index.add(first, first.value, '', null);
  /** The resources at the roots of files, by the path relative to the first file, to which others may refer back. */
  const roots = new Map([[posix.basename(source.file), rootOf(first)]]);

  function rootOf({ value }: SourceDocument): Resource | null {
    return isJsonObject(value) ? (index.places.get(value)?.resource ?? null) : null;
  }

  function read(path: string, own: Resource, pointer: string, reference: string): SourceText {
    const name = JSON.stringify(reference);
    try {
      const missing = `refers to ${name}, which is not in this file. Refer to a file by a relative path, or bundle the schema into one file.`;
      return source.readRelative?.(path) ?? fail(own.document, pointer, missing);
    } catch (error) {
      if (!(error instanceof InputError) || source.readRelative === undefined) throw error;
      return fail(own.document, pointer, `refers to ${name}: ${error.message}`);
    }
  }

  return {
    first,
    /**
     * The schema in another file that a reference names. Null if its address is not one of a file.
     *
     * @param own the resource that contains the reference, at `pointer`
     * @param address the reference without its fragment
     */
    resourceAt(own: Resource, pointer: string, address: string, reference: string): Resource | null {
      const path = pathOf(address, own.document.path, rootOf(own.document)?.address ?? '');
      if (path === null) return null;
      const known = roots.get(path);
      if (known !== undefined) return known;
      const document = { ...parseJson(read(path, own, pointer, reference), tolerated), path };
      if (!isJsonObject(document.value)) fail(document, '', 'must be an object');
      index.add(document, document.value, '', null);
      roots.set(path, rootOf(document));
      return rootOf(document);
    },
  };
}

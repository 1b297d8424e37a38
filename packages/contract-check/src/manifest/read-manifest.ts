import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import type { SourceText } from '../text-file.ts';
import type { Manifest } from './manifest.ts';

const schemaFile = new URL('../../manifest.schema.json', import.meta.url);
const validate = validatorOf<Manifest>('manifest.schema.json');

const schema: { readonly properties: object } = JSON.parse(readFileSync(schemaFile, 'utf8'));

/** The members that `manifest.schema.json` describes. */
export const knownMembers: ReadonlySet<string> = new Set(Object.keys(schema.properties));

/** A manifest, and the sections that this version of the tool does not know. */
export interface ManifestDocument {
  readonly manifest: Manifest;
  readonly unknown: ReadonlyMap<string, JsonValue>;
  readonly document: JsonDocument;
}

/**
 * Reads a manifest, without the sections that are not in `manifest.schema.json`.
 *
 * @throws {InputError} when the manifest is invalid. The message contains the JSON Pointer of the invalid value.
 */
export function readManifest(source: SourceText): Manifest {
  return readManifestDocument(source).manifest;
}

/** @throws {InputError} when the manifest is invalid. */
export function readManifestDocument(source: SourceText): ManifestDocument {
  const document = parseJson(source);
  const members: JsonObject = isJsonObject(document.value) ? document.value : {};
  const unknown = new Map(Object.entries(members).filter(([name]) => !knownMembers.has(name)));
  const known = Object.fromEntries(Object.entries(members).filter(([name]) => knownMembers.has(name)));
  const manifest = validate(document, isJsonObject(document.value) ? known : document.value);
  return { manifest, unknown, document };
}

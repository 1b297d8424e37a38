import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import type { SourceText } from '../text-file.ts';

/** The part of a contract that a schema does not show. `manifest.schema.json` is the JSON Schema of this type. */
export interface Manifest {
  readonly description?: string;
  /** By error code. */
  readonly errors?: Readonly<Record<string, ManifestError>>;
  readonly requestHeaders?: Readonly<Record<string, RequestHeader>>;
  readonly responseHeaders?: Readonly<Record<string, ResponseHeader>>;
  /** By name. The name includes the unit. */
  readonly limits?: Readonly<Record<string, number | Limit>>;
  readonly pagination?: Readonly<Record<string, number | Limit>>;
  /** By schema coordinate: what the credentials of a request must have to use the field. */
  readonly abilities?: Readonly<Record<string, readonly string[]>>;
  /** By schema coordinate, in points. */
  readonly costWeights?: Readonly<Record<string, number>>;
  /** By schema coordinate: the number of items by which the cost of a list is multiplied. */
  readonly costListSizes?: Readonly<Record<string, number>>;
  /** By schema coordinate: the most points that all values of a field cost together in a page. */
  readonly costPageMaximums?: Readonly<Record<string, number>>;
}

export interface ManifestError {
  readonly description?: string;
  /** HTTP status by media type of the response. */
  readonly status: Readonly<Record<string, number>>;
}

export interface RequestHeader {
  readonly description?: string;
  readonly required: boolean;
}

export interface ResponseHeader {
  readonly description?: string;
  /** `always`, the HTTP statuses of the responses that carry the header, or a name for the condition. */
  readonly sent: string | readonly number[];
  /** Set if the header always has this value. */
  readonly value?: string;
}

export interface Limit {
  readonly description?: string;
  readonly value: number;
  /** `input`: bounds what clients may send or request. `output`: bounds what clients receive. Defaults to `input`. */
  readonly bounds?: 'input' | 'output';
  /** False if the limit is published but requests beyond it are not yet rejected. Defaults to true. */
  readonly enforced?: boolean;
  /** The schema coordinate that was added together with the limit. */
  readonly introducedWith?: string;
}

const schemaFile = new URL('../../manifest.schema.json', import.meta.url);
const validate = validatorOf<Manifest>('manifest.schema.json');

const schema: { readonly properties: object } = JSON.parse(readFileSync(schemaFile, 'utf8'));

/** The members that `manifest.schema.json` describes. */
export const knownMembers: ReadonlySet<string> = new Set(Object.keys(schema.properties));

/** A manifest, and the sections that this version of the tool does not know. */
export type ManifestDocument = ReturnType<typeof readManifestDocument>;

/**
 * Reads a manifest, without the sections that are not in `manifest.schema.json`.
 *
 * @throws {InputError} when the manifest is invalid. The message contains the JSON Pointer of the invalid value.
 */
export function readManifest(source: SourceText): Manifest {
  return readManifestDocument(source).manifest;
}

/** @throws {InputError} when the manifest is invalid. */
export function readManifestDocument(source: SourceText) {
  const document = parseJson(source);
  const members: JsonObject = isJsonObject(document.value) ? document.value : {};
  const unknown = new Map(Object.entries(members).filter(([name]) => !knownMembers.has(name)));
  const known = Object.fromEntries(Object.entries(members).filter(([name]) => knownMembers.has(name)));
  const manifest = validate(document, isJsonObject(document.value) ? known : document.value);
  return { manifest, unknown, document };
}

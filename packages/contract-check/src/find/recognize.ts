import { isExecutableDefinitionNode, parse } from 'graphql';
import { readGraphqlContract } from '../graphql/read-contract.ts';
import { ifValid, withinStack } from '../input-error.ts';
import { readSchemaDocument } from '../json-schema/schema-document.ts';
import { isJsonObject, ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';

/** What a file is: a complete GraphQL schema, a part of one, or a JSON Schema. */
export type SchemaKind = 'graphql' | 'graphql-part' | 'json-schema';

/** Whether a file with this name can be a schema. */
export function canBeSchema(path: string): boolean {
  return /\.(?:graphqls?|gql|json|jsonschema)$/.test(path);
}

const documents: readonly (readonly [path: RegExp, text: RegExp, noun: string])[] = [
  [/^(?!.*\bpnpm-(?:lock|workspace)).*\.ya?ml$/, /(?:)/, 'YAML file'],
  [/\.json5$/, /(?:)/, 'JSON5 file'],
  [/\.json$/, /^\s*\{[^{]*"(?:openapi|swagger)"\s*:/, 'OpenAPI document'],
  [/\.json$/, /^\s*\{[^{]*"asyncapi"\s*:/, 'AsyncAPI document'],
];

/** What a file is that can contain schemas, but that no command reads. Null for other files. */
export function unreadDocument(path: string, read: () => SourceText): string | null {
  const found = documents.find(([name, text]) => name.test(path) && (text.source === '(?:)' || text.test(read().text)));
  return found?.[2] ?? null;
}

/** Recognizes a schema by its text. Null if the file is none, for example because it contains operations. */
export function recognize(path: string, source: SourceText): SchemaKind | null {
  if (!/\.json(?:schema)?$/.test(path)) return recognizeSdl(source);
  if (/"__schema"\s*:\s*\{/.test(source.text)) {
    readGraphqlContract([source]);
    return 'graphql';
  }
  if (!isJsonSchema(path, source)) return null;
  withinStack(source.file, () => readSchemaDocument(source));
  return 'json-schema';
}

function recognizeSdl(source: SourceText): SchemaKind | null {
  if (source.text.trim() === '' || hasOperations(source)) return null;
  // Federation adds roots through which clients reach types that no field leads to.
  const isSubgraph = /\bspecs\.apollo\.dev\/federation\b|@key\s*\(/.test(source.text);
  if (!isSubgraph && ifValid(() => readGraphqlContract([source])) !== null) return 'graphql';
  readGraphqlContract([source], { partial: true, withoutDirectives: false });
  return 'graphql-part';
}

function hasOperations({ text }: SourceText): boolean {
  try {
    return parse(text, { noLocation: true }).definitions.some(isExecutableDefinitionNode);
  } catch {
    // The reader of schemas names the place of the error.
    return false;
  }
}

const structure = ['type', 'properties', '$ref', '$defs', 'definitions', 'allOf', 'anyOf', 'oneOf', 'enum', 'items'];

/** A file of another name has to state that it is a JSON Schema, because many JSON files have members such as `type`. */
function isJsonSchema(path: string, source: SourceText): boolean {
  const isNamed = /\.(?:schema\.json|jsonschema)$/.test(path);
  if (!isNamed && !source.text.includes('json-schema.org/')) return false;
  const { value } = parseJson(source);
  if (!isJsonObject(value)) return false;
  const dialect = ownMember(value, '$schema');
  if (typeof dialect === 'string' && /^https?:\/\/json-schema\.org\//.test(dialect)) return true;
  return isNamed && structure.some((keyword) => Object.hasOwn(value, keyword));
}

import {
  buildClientSchema,
  parse,
  printSchema,
  specifiedDirectives,
  visit,
  type DocumentNode,
  type IntrospectionQuery,
} from 'graphql';
import { InputError, errorMessage, failAt } from '../input-error.ts';
import { isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SourceText } from '../text-file.ts';

/** Whether a text is JSON. SDL never starts with a brace. */
export function isIntrospection({ text }: SourceText): boolean {
  return /^\s*\{\s*["}]/.test(text);
}

/** Reads the result of an introspection query, including inside the `data` of a response. The nodes have no places. */
export function introspectedDocument(source: SourceText): DocumentNode {
  const { value } = parseJson(source);
  const result = [value, ownMember(value, 'data')].find(hasSchema);
  if (result === undefined)
    throw new InputError(source.file, 1, 'expected SDL or the result of an introspection query, with /data/__schema');
  try {
    return parse(printSchema(buildClientSchema(result)), { noLocation: true });
  } catch (error) {
    failAt(source.file, errorMessage(error), { cause: error });
  }
}

function hasSchema(value: unknown): value is JsonObject & IntrospectionQuery {
  return isJsonObject(value) && isJsonObject(ownMember(value, '__schema'));
}

const shown: ReadonlySet<string> = new Set(specifiedDirectives.map(({ name }) => name));

/** Removes the applied directives that introspection does not show. */
export function withoutAppliedDirectives(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: ({ name }) => (shown.has(name.value) ? undefined : null) });
}

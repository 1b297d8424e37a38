import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import {
  GraphQLError,
  NoUnusedFragmentsRule,
  Source,
  concatAST,
  isExecutableDefinitionNode,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { failAt, withinStack } from '../input-error.ts';
import { isForeign } from '../source/package-files.ts';
import { readLocal } from '../source/read-source.ts';
import type { SourceText } from '../text-file.ts';

export const documentRules = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule);

/**
 * Reads the operations and fragments of all files that match the patterns as one document, which is valid. A fragment may be in
 * another file than its operation, and a fragment that no operation uses is allowed.
 *
 * @throws {InputError} which names the file, the line and the column of a problem.
 */
export function readDocuments(patterns: readonly string[], schema: GraphQLSchema): DocumentNode {
  const sources = patterns.flatMap((pattern) => readLocal(pattern, failAtFolder));
  // By real path, so that a file and a link to it are one document.
  const files = new Map(sources.map((source) => [realpathSync(source.file), source]));
  const document = concatAST([...files.values()].map(parseDocument));
  const all = patterns.join(', ');
  if (!document.definitions.some(({ kind }) => kind === 'OperationDefinition'))
    failAt(all, 'the files contain fragments, but no operation');
  const [first, ...others] = withinStack(all, () => validate(schema, document, documentRules));
  if (first === undefined) return document;
  return failWith(first, all, others.length === 0 ? '' : ` (and ${others.length} more)`);
}

/** A document that is left out would be a use that the file does not show. */
function failAtFolder(link: string): void {
  if (isForeign(basename(link)) || !existsSync(`${link}/.`)) return;
  const instead = 'Pass a pattern that does not contain it, and another one for its files';
  failAt(link, `is a symbolic link to a folder, which is not followed. ${instead}`);
}

/** @throws {InputError} which starts with `file:line:column: `. */
export function parseDocument({ file, text }: SourceText): DocumentNode {
  try {
    const document = withinStack(file, () => parse(new Source(text, file)));
    const other = document.definitions.find((definition) => !isExecutableDefinitionNode(definition));
    if (other === undefined) return document;
    const found = 'Expected operations and fragments, found a definition of a schema.';
    throw new GraphQLError(found, { nodes: other });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return failWith(error, file);
  }
}

/** @param file is named if the error has no place */
function failWith(error: GraphQLError, file: string, more = ''): never {
  const places = (error.locations ?? []).map(({ line, column }, index) => {
    const { name = file } = error.nodes?.[index]?.loc?.source ?? error.source ?? {};
    return `${name}:${line}:${column}`;
  });
  const [first = file, ...also] = places;
  failAt(first, `${error.message}${more}${also.length === 0 ? '' : ` (also ${also.join(', ')})`}`, { cause: error });
}

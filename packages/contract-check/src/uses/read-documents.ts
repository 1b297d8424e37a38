import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  GraphQLError,
  NoUnusedFragmentsRule,
  Source,
  concatAST,
  isExecutableDefinitionNode,
  parse,
  specifiedRules,
  validate,
  type ASTNode,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import picomatch from 'picomatch';
import { InputError, failAt, withinStack } from '../input-error.ts';
import { filesOfFolder, isForeign, isPattern, matchingPaths } from '../source/package-files.ts';
import { failToRead, readSourceText, type SourceText } from '../text-file.ts';

/** Larger files are data. */
const maxFileBytes = 1024 * 1024;

export const documentRules = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule);

type Place = Readonly<Record<'line' | 'column', number> & { file: string }>;

/**
 * @param file is named if no place is known
 * @throws {InputError} whose message starts with `file:line:column: `
 */
function failAtPlaces(file: string, problem: string, places: readonly Place[], cause?: GraphQLError): never {
  const [first = file, ...also] = places.map((place) => `${place.file}:${place.line}:${place.column}`);
  failAt(first, `${problem}${also.length === 0 ? '' : ` (also ${also.join(', ')})`}`, { cause });
}

function placeOf({ loc }: ASTNode): Place[] {
  return loc === undefined ? [] : [{ file: loc.source.name, line: loc.startToken.line, column: loc.startToken.column }];
}

/**
 * Reads the operations and fragments of all files that match the patterns as one document, which is valid. A fragment may be in
 * another file than its operation, and a fragment that no operation uses is allowed.
 *
 * @throws {InputError} which names the file, the line and the column of a problem.
 */
export function readDocuments(patterns: readonly string[], schema: GraphQLSchema): DocumentNode {
  // By real path, so that a file and a link to it are one document.
  const files = new Map(
    patterns
      .flatMap((pattern) => documentPaths(pattern))
      .toSorted()
      .map((path) => [realFile(path), path]),
  );
  const document = concatAST([...files.values()].map((path) => parseDocument(readSourceText(path))));
  const all = patterns.join(', ');
  if (!document.definitions.some(({ kind }) => kind === 'OperationDefinition'))
    failAt(all, 'the files contain fragments, but no operation');
  const [first, ...others] = withinStack(all, () => validate(schema, document, documentRules));
  if (first === undefined) return document;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return failAtPlaces(all, `${first.message}${more}`, first.nodes?.flatMap(placeOf) ?? [], first);
}

function documentPaths(pattern: string): string[] {
  if (isFolder(pattern)) failAt(pattern, `is a folder. Pass a pattern of its files: '${pattern}/**/*.graphql'`);
  if (existsSync(pattern) || !isPattern(pattern)) return [pattern];
  const { base, glob } = picomatch.scan(pattern);
  const folder = base === '' ? '.' : base;
  const files = filesOfFolder(folder, isForeign, failAtFolder) ?? new Map<string, never>();
  const paths = matchingPaths(files, [glob]);
  if (paths.length === 0) failAt(pattern, 'matches no file');
  return paths.map((path) => join(folder, path));
}

/** A document that is left out would be a use that the file does not show. */
function failAtFolder(link: string): void {
  if (isForeign(basename(link)) || !isFolder(link)) return;
  const instead = 'Pass a pattern that does not contain it, and another one for its files';
  failAt(link, `is a symbolic link to a folder, which is not followed. ${instead}`);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // It does not exist, or is a link to nothing or to itself.
    return false;
  }
}

function realFile(path: string): string {
  try {
    const stats = statSync(path);
    // Anything else, such as a pipe, may have no end.
    if (!stats.isFile()) failAt(path, 'is not a regular file');
    if (stats.size > maxFileBytes) failAt(path, `has ${stats.size} bytes, but a document has at most ${maxFileBytes}`);
    return realpathSync(path);
  } catch (error) {
    if (error instanceof InputError) throw error;
    return failToRead(path, error);
  }
}

export function parseDocument({ file, text }: SourceText): DocumentNode {
  try {
    const document = withinStack(file, () => parse(new Source(text, file)));
    const other = document.definitions.find((definition) => !isExecutableDefinitionNode(definition));
    if (other === undefined) return document;
    failAtPlaces(file, 'Expected operations and fragments, found a definition of a schema.', placeOf(other));
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    failAtPlaces(file, error.message, error.locations?.map((place) => ({ file, ...place })) ?? [], error);
  }
}

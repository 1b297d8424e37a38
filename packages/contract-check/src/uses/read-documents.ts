import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import {
  GraphQLError,
  Kind,
  LoneAnonymousOperationRule,
  NoUnusedFragmentsRule,
  UniqueFragmentNamesRule,
  UniqueOperationNamesRule,
  concatAST,
  print,
  specifiedRules,
  validate,
  visit,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type GraphQLSchema,
} from 'graphql';
import { failAt, withinStack } from '../input-error.ts';
import { isForeign } from '../source/package-files.ts';
import { readLocal } from '../source/read-source.ts';
import { clientDirectivesOf, definesForDocuments, expandingDirectives } from './client-directives.ts';
import { readDocumentFile, scopeOf } from './document-files.ts';
import { fragmentFinder, type Scope } from './fragment-scopes.ts';
import { listFragmentReplacer } from './list-fragments.ts';
import { failWith } from './parse-document.ts';
import { sentDefinitions, withoutClient, withoutDirectives, type Clean } from './sent-definitions.ts';

export const documentRules = specifiedRules.filter((rule) => rule !== NoUnusedFragmentsRule);
const nameRules = [UniqueOperationNamesRule, UniqueFragmentNamesRule];

/**
 * Reads the operations of all files that match the patterns. Returns a valid document for each, with the fragments that it needs,
 * as its client sends it. A fragment may be in another file than its operation, and one that no operation uses is allowed.
 *
 * @param ignored directives that are removed, as those of known clients are
 * @returns with `expandedBy`, a directive with which a client sends more than its documents contain. Null if none has one
 * @throws {InputError} which names the file, the line and the column of a problem.
 */
export function readDocuments(
  patterns: readonly string[],
  schema: GraphQLSchema,
  ignored: readonly string[],
): { documents: DocumentNode[]; expandedBy: string | null } {
  const defined = ignored.find((name) => definesForDocuments(schema, name));
  if (defined !== undefined)
    failAt(`--ignore-directive ${defined}`, 'the schema defines this directive, so that clients send it');
  const sources = patterns.flatMap((pattern) => readLocal(pattern, failAtFolder));
  // By real path, so that a file and a link to it are one document.
  const files = new Map(sources.map((source) => [realpathSync(source.file), source]));
  const scopes = [...files.values()].flatMap(readDocumentFile);
  const all = patterns.join(', ');
  const definitions = scopes.flatMap((scope) => scope.definitions);
  if (!definitions.some(isOperation))
    failAt(all, `the files contain ${definitions.length === 0 ? '' : 'fragments, but '}no operation`);
  const { documents, errors, expandedBy } = withinStack(all, () => check(scopes, schema, ignored));
  const [first, ...others] = errors.values();
  if (first === undefined) return { documents, expandedBy };
  const [node] = first.nodes ?? [];
  const isUnknown = node?.kind === Kind.DIRECTIVE && !definesForDocuments(schema, node.name.value);
  const way = ' The server refuses it. If the client or a gateway removes it, pass --ignore-directive';
  const more = isUnknown ? `${way} ${node.name.value}.` : '';
  return failWith(first, all, `${more}${others.length === 0 ? '' : ` (and ${others.length} more)`}`);
}

function check(read: readonly Scope[], schema: GraphQLSchema, ignored: readonly string[]) {
  const isClient = clientDirectivesOf(schema, ignored);
  const sources = read.filter((scope) => !scope.isComplete);
  const replaceLists = listFragmentReplacer(
    sources.flatMap((scope) => scope.documents),
    schema,
    isClient,
  );
  // What is persisted is sent as it is.
  const scopes = read.map((scope) => (scope.isComplete ? scope : scopeOf(scope.documents.map(replaceLists), false)));
  const cleanIn = (scope: Scope): Clean =>
    scope.isComplete ? (all) => withoutDirectives(all, ignored) : (all) => withoutClient(all, isClient);
  const find = fragmentFinder(scopes);
  // By place and message: operations share fragments.
  const errors = new Map<string, GraphQLError>();
  const checkBy = (document: DocumentNode, rules: typeof documentRules): void => {
    for (const found of validate(schema, document, rules)) {
      const error = found.message === 'Validation aborted.' ? unmergeable(document) : found;
      errors.set(String(error), error);
    }
  };
  for (const { documents } of scopes) {
    for (const document of documents) checkBy(document, [LoneAnonymousOperationRule]);
    checkBy(concatAST(documents), nameRules);
  }

  const documents: DocumentNode[] = [];
  const spread = new Set<string>();
  for (const scope of scopes)
    for (const operation of scope.definitions.filter(isOperation)) {
      const fragments = find(operation, scope);
      for (const fragment of fragments) spread.add(print(fragment));
      const document = documentOf(sentDefinitions(operation, fragments, cleanIn(scope)));
      checkBy(document, documentRules);
      documents.push(document);
    }
  for (const scope of scopes) {
    const unused = scope.definitions.filter((each) => !isOperation(each) && !spread.has(print(each)));
    const all = new Set([...unused, ...unused.flatMap((each) => find(each, scope))]);
    checkBy(documentOf(cleanIn(scope)([...all])), documentRules);
  }
  const expandedBy = directiveIn(sources, (name) => expandingDirectives.has(name) && isClient(name));
  return { documents, errors, expandedBy };
}

/** graphql-js stops without a place when OverlappingFieldsCanBeMergedRule has made too many comparisons. */
function unmergeable({ definitions }: DocumentNode): GraphQLError {
  const problem =
    'There are too many fields and fragments to check that those with the same response name can be merged.';
  return new GraphQLError(`${problem} Remove repeated ones, or split the operation.`, {
    nodes: definitions.slice(0, 1),
  });
}

/** The name of the first directive that matches. Null if none does. */
function directiveIn(scopes: readonly Scope[], matches: (name: string) => boolean): string | null {
  let found: string | null = null;
  for (const document of scopes.flatMap((scope) => scope.documents))
    visit(document, {
      Directive({ name }) {
        if (matches(name.value)) found ??= name.value;
      },
    });
  return found;
}

function isOperation(definition: ExecutableDefinitionNode): boolean {
  return definition.kind === Kind.OPERATION_DEFINITION;
}

function documentOf(definitions: readonly ExecutableDefinitionNode[]): DocumentNode {
  return { kind: Kind.DOCUMENT, definitions };
}

/** A document that is left out would be a use that the file does not show. */
function failAtFolder(link: string): void {
  if (isForeign(basename(link)) || !existsSync(`${link}/.`)) return;
  const instead = 'Pass a pattern that does not contain it, and another one for its files';
  failAt(link, `is a symbolic link to a folder, which is not followed. ${instead}`);
}

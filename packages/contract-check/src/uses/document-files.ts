import { isExecutableDefinitionNode, type DocumentNode } from 'graphql';
import { failAt } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import type { Scope } from './fragment-scopes.ts';
import { parseDocument } from './parse-document.ts';
import { persistedOperations } from './persisted-operations.ts';
import { sourceDocuments } from './source-documents.ts';

/** Reads a file by its extension: one scope, or one for each persisted operation. */
export function readDocumentFile(source: SourceText): Scope[] {
  const { file } = source;
  if (/\.(?:vue|svelte|astro)$/.test(file)) {
    const read =
      'Read are GraphQL files, templates in TypeScript and JavaScript files, and persisted operations in JSON';
    failAt(file, `is a single-file component, which is not read. ${read}`);
  }
  if (file.endsWith('.json')) {
    const operations = persistedOperations(source).map((each) =>
      parseDocument(each, 'A .json file is read as a manifest of persisted operations.'),
    );
    return operations.map((document) => scopeOf([document], true));
  }
  if (/\.[cm]?[jt]sx?$/.test(file)) {
    const hint = 'Templates and texts of gql and graphql are read as GraphQL.';
    return [
      scopeOf(
        sourceDocuments(source).map((each) => parseDocument(each, hint)),
        false,
      ),
    ];
  }
  const others =
    'Templates are read in files with the extensions of TypeScript and JavaScript, and persisted operations in .json';
  const hint = /\.(?:graphqls?|gql)$/.test(file)
    ? 'The file is read as GraphQL.'
    : `The file is read as GraphQL. ${others}.`;
  return [scopeOf([parseDocument(source, hint)], false)];
}

export function scopeOf(documents: readonly DocumentNode[], isComplete: boolean): Scope {
  return {
    documents,
    definitions: documents.flatMap((each) => each.definitions).filter(isExecutableDefinitionNode),
    isComplete,
  };
}

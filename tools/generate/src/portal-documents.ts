import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Layout } from '@deedwire/layout';
import { buildSchema, concatAST, getOperationAST, parse, print, separateOperations, validate } from 'graphql';
import { runCodegen } from './codegen.ts';
import { readInterfaceVersions } from './event-versions.ts';
import { banner, type Generated } from './generated.ts';
import { portalFolder as folder } from './platform-folders.ts';
import { findFiles, readText, workspaceRoot } from './workspace-files.ts';

/**
 * The operations of the portal: their types and hashes for the pages, and the text of each hash for the server. An operation
 * must be valid at the current version of every interface, because the pages are the same.
 */
export async function portalDocuments(layouts: readonly Layout[]): Promise<Generated> {
  const all = concatAST(findFiles(`${folder}/src/documents/*.graphql`).map((path) => parse(readText(path))));
  const texts = Object.values(separateOperations(all)).flatMap((document) => {
    const operation = getOperationAST(document);
    if (!operation) return [];
    const fragments = document.definitions.filter((definition) => definition !== operation);
    return [[operation, [operation, ...fragments].map(print).join('\n')] as const];
  });
  const sdlPaths = layouts.flatMap(({ interfaceNames, contractOf }) =>
    interfaceNames.map((name) => [name, sdlPath(contractOf(name))] as const),
  );
  for (const [name, path] of sdlPaths) {
    const schema = buildSchema(readText(path));
    for (const [, text] of texts) {
      const [error] = validate(schema, parse(text));
      if (error) throw new Error(`${folder}: not valid on the ${name} interface: ${error.message}\n${text}`);
    }
  }
  const types = await runCodegen(import.meta.dirname, {
    generates: {
      types: {
        schema: join(workspaceRoot, sdlPaths[0]?.[1] ?? ''),
        documents: join(workspaceRoot, `${folder}/src/documents/*.graphql`),
        plugins: ['typescript-operations'],
        config: {
          enumType: 'string-literal',
          futureProofEnums: true,
          scalars: { ID: 'string', Date: 'string', DateTime: 'string', Long: 'number' },
        },
      },
    },
  });
  const constants = texts.map(([{ name, operation }, text]) => {
    const type = `${name?.value}${operation === 'query' ? 'Query' : 'Mutation'}`;
    return `export const ${name?.value} = '${hashOf(text)}' as DocumentId<${type}, ${type}Variables>;\n`;
  });
  const idType = `/** The hash of an operation, which the pages send instead of its text. */
export type DocumentId<Result, Variables> = string & { readonly result?: Result; readonly variables?: Variables };
`;
  const documents = Object.fromEntries(texts.map(([, text]) => [hashOf(text), text]));
  return {
    files: new Map([
      [`${folder}/src/generated/documents.ts`, `${banner}\n${types.get('types')}\n${idType}\n${constants.join('')}`],
      [`${folder}/generated/documents.json`, `${JSON.stringify({ documents }, null, 2)}\n`],
    ]),
  };
}

/** @param contract the folder of the contract of an interface */
function sdlPath(contract: string): string {
  const current = readInterfaceVersions(contract).findLast(({ status }) => status === 'current');
  if (current === undefined) throw new Error(`${contract} has no current version.`);
  return `${contract}/versions/${current.version}.graphql`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

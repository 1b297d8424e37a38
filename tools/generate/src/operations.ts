import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Layout } from '@deedwire/layout';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { runCodegen } from './codegen.ts';
import type { Generated } from './generated.ts';
import { fileExists, findFiles, readText, workspaceRoot } from './workspace-files.ts';

const consumers = 'tools/contract-tests/consumers';

/**
 * The typed operations of clients: those of `contract-tests` that are typed, for each version that they pin, and those in the
 * READMEs of the schema packages, with the configuration that the README shows.
 */
export async function operations(layouts: readonly Layout[]): Promise<Generated> {
  const contracts = layouts.flatMap(({ interfaceNames, contractOf }) =>
    interfaceNames.map((name) => [name, contractOf(name)] as const),
  );
  const generates = consumerOutputs(new Map(contracts));
  // It refuses a configuration without outputs.
  const files =
    Object.keys(generates).length === 0
      ? new Map<string, string>()
      : await runCodegen(import.meta.dirname, { generates });
  const configurations = contracts.map(([, contract]) => `${contract}/test/consumer/codegen.ts`);
  const readmeClients = await Promise.all(configurations.filter(fileExists).map(readmeClient));
  for (const [path, text] of readmeClients.flat()) files.set(path, text);
  return { files, stale: findFiles(`${consumers}/*/generated/*`).filter((path) => !files.has(path)) };
}

/** @param contracts of each interface, by its name */
function consumerOutputs(contracts: ReadonlyMap<string, string>): CodegenConfig['generates'] {
  const generates: CodegenConfig['generates'] = {};
  for (const path of findFiles(`${consumers}/*/consumer.json`)) {
    const consumer: { interface: string; versions: string[]; typed?: true } = JSON.parse(readText(path));
    if (consumer.typed === undefined) continue;
    const contract = contracts.get(consumer.interface);
    if (contract === undefined) throw new Error(`${path}: no service has the interface ${consumer.interface}.`);
    const { name: schemaPackage }: { name: string } = JSON.parse(readText(`${contract}/package.json`));
    for (const version of consumer.versions) {
      generates[`${dirname(path)}/generated/${version}.ts`] = {
        schema: join(workspaceRoot, contract, `versions/${version}.graphql`),
        documents: join(workspaceRoot, dirname(path), 'operations.graphql'),
        plugins: ['typescript-operations', 'typed-document-node'],
        config: {
          // Imports enums and input types from the package. The prefix `~` marks a package name instead of a path.
          importSchemaTypesFrom: `~${schemaPackage}/${version}`,
          namespacedImportName: 'Schema',
          scalars: { Date: 'string', DateTime: 'string', Long: 'number' },
          useTypeImports: true,
        },
      };
    }
  }
  return generates;
}

async function readmeClient(configuration: string): Promise<[path: string, text: string][]> {
  const folder = dirname(configuration);
  const { default: config }: { default: CodegenConfig } = await import(
    pathToFileURL(join(workspaceRoot, configuration)).href
  );
  const texts = await runCodegen(join(workspaceRoot, folder), config);
  return Array.from(texts, ([path, text]) => [join(folder, path), text]);
}

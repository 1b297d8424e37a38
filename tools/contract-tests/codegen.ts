import { fileURLToPath } from 'node:url';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { readConsumers } from './src/consumers.ts';

/** Generates types for the operations of each consumer, for each version that it pins. */
const generates: CodegenConfig['generates'] = {};
for (const consumer of readConsumers()) {
  const schemaPackage = `@deedwire/${consumer.interface}-schema`;
  const folder = `consumers/${consumer.name}`;
  for (const version of consumer.versions) {
    generates[`${folder}/generated/${version}.ts`] = {
      schema: fileURLToPath(import.meta.resolve(`${schemaPackage}/${version}.graphql`)),
      documents: `${folder}/operations.graphql`,
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        // Imports enums and input types from the package. The prefix `~` marks a package name instead of a path.
        importSchemaTypesFrom: `~${schemaPackage}/${version}`,
        namespacedImportName: 'Schema',
        scalars: { Date: 'string', DateTime: 'string' },
        useTypeImports: true,
      },
    };
  }
}

const config: CodegenConfig = { generates };
export default config;

import { fileURLToPath } from 'node:url';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { readConsumers } from './src/consumers.ts';

/** Types for the operations of each consumer, against each version that it pins. */
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
        // Enums and inputs come from the package: `~` says that it is one and not a path.
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

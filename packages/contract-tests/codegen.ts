import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types for the operations of each consumer, against the version that it pins. */
const generates: CodegenConfig['generates'] = {};
for (const file of globSync('consumers/*/consumer.json').toSorted()) {
  const consumer: { schema: string; version: string } = JSON.parse(readFileSync(file, 'utf8'));
  const folder = dirname(file);
  generates[`${folder}/generated/operations.ts`] = {
    schema: fileURLToPath(import.meta.resolve(`${consumer.schema}/${consumer.version}.graphql`)),
    documents: `${folder}/operations.graphql`,
    plugins: ['typescript-operations', 'typed-document-node'],
    config: {
      // Enums and inputs come from the package: `~` says that it is one and not a path.
      importSchemaTypesFrom: `~${consumer.schema}/${consumer.version}`,
      namespacedImportName: 'Schema',
      scalars: { Date: 'string', DateTime: 'string' },
      useTypeImports: true,
    },
  };
}

const config: CodegenConfig = { generates };
export default config;

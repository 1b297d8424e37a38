import { fileURLToPath } from 'node:url';
import type { CodegenConfig } from '@graphql-codegen/cli';

export default {
  schema: fileURLToPath(import.meta.resolve('@deedwire/partner-schema/2026-11-01.graphql')),
  documents: 'operations.graphql',
  generates: {
    'generated/operations.ts': {
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        // Imports enums and inputs from the package. The `~` marks a package name, not a path.
        importSchemaTypesFrom: '~@deedwire/partner-schema/2026-11-01',
        namespacedImportName: 'Partner',
        scalars: { Date: 'string', DateTime: 'string', Long: 'number' },
        useTypeImports: true,
      },
    },
  },
} satisfies CodegenConfig;

import { fileURLToPath } from 'node:url';
import type { CodegenConfig } from '@graphql-codegen/cli';
import { pins } from './pins.ts';

function operationsOf(name: 'lender' | 'partner', version: string): CodegenConfig['generates'] {
  return {
    [`generated/${name}.ts`]: {
      schema: fileURLToPath(import.meta.resolve(`@deedwire/${name}-schema/${version}.graphql`)),
      documents: `${name}.graphql`,
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        importSchemaTypesFrom: `~@deedwire/${name}-schema/${version}`,
        namespacedImportName: 'Schema',
        scalars: { Date: 'string', DateTime: 'string' },
        useTypeImports: true,
      },
    },
  };
}

export default {
  generates: { ...operationsOf('lender', pins.lender), ...operationsOf('partner', pins.partner) },
} satisfies CodegenConfig;

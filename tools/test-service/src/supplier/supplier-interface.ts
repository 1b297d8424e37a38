import { join } from 'node:path';
import { type InterfaceCode, serveContract } from '@deedwire/graphql-server';
import { contractOf } from '../contracts.ts';
import { schemas } from './generated/schemas.ts';

/** What only the app of the interface loads. */
export const supplierInterface: InterfaceCode = {
  contract: serveContract(contractOf('supplier'), schemas),
  examples: join(import.meta.dirname, '../../examples'),
  plugins: () => [],
};

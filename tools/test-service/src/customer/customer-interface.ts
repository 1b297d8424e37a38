import { join } from 'node:path';
import { type InterfaceCode, serveContract } from '@deedwire/graphql-server';
import { contractOf } from '../contracts.ts';
import { schemas } from './generated/schemas.ts';

/** What only the app of the interface loads. */
export const customerInterface: InterfaceCode = {
  contract: serveContract(contractOf('customer'), schemas),
  examples: join(import.meta.dirname, '../../examples'),
  plugins: () => [],
};

import { join } from 'node:path';
import { type InterfaceCode, serveContract } from '@deedwire/graphql-server';
import * as contract from './contract/src/index.ts';
import { schemas } from './generated/schemas.ts';

/** What only the app of the interface loads. */
export const customerInterface: InterfaceCode = {
  contract: serveContract(contract, schemas),
  examples: join(import.meta.dirname, '../../src/customer/contract/examples'),
  plugins: () => [],
};

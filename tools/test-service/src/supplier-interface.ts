import { join } from 'node:path';
import {
  acceptAnyId,
  addConnections,
  addWebhooks,
  createSchemaBuilder,
  type InterfaceCode,
  requireIdOfType,
  serveContract,
} from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { addAccount } from './add-account.ts';
import { contractOf } from './contracts.ts';

function createSchema(webhooks: Parameters<typeof addWebhooks>[2]): GraphQLSchema {
  const builder = createSchemaBuilder();
  addAccount(builder, 'supplier');
  addWebhooks(builder, addConnections(builder), webhooks);
  return builder.toSchema();
}

/** What only the app of the interface loads. */
export const supplierInterface: InterfaceCode = {
  contract: serveContract(
    contractOf('supplier'),
    new Map([
      ['2026-11-01', createSchema({ checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true })],
      ['2027-02-01', createSchema({ checkId: requireIdOfType, sequenceType: 'Long', eventsHaveId: false })],
    ]),
  ),
  examples: join(import.meta.dirname, '../examples'),
  plugins: () => [],
};

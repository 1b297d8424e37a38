import { addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { addAccount } from '../add-account.ts';

/** Versions differ only in the common half. */
export function createSupplierSchema(webhooks: Parameters<typeof addWebhooks>[2]): GraphQLSchema {
  const builder = createSchemaBuilder();
  addAccount(builder, 'supplier');
  addWebhooks(builder, addConnections(builder), webhooks);
  return builder.toSchema();
}

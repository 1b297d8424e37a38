import { addAccount, addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { interfaces } from '../interfaces.ts';

/** Versions differ only in the common half. */
export function createSupplierSchema(webhooks: Parameters<typeof addWebhooks>[2]): GraphQLSchema {
  const builder = createSchemaBuilder();
  addAccount(builder, interfaces.supplier);
  addWebhooks(builder, addConnections(builder), webhooks);
  return builder.toSchema();
}

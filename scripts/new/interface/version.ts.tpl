import { addConnections, addWebhooks, createSchemaBuilder, requireIdOfType } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { add{{account}} } from '../schema/{{name}}.ts';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  add{{account}}(builder);
  addWebhooks(builder, connectionOf, { checkId: requireIdOfType, sequenceType: 'Long' });
  return builder.toSchema();
}

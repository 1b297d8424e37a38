import { acceptAnyId, addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const Customer = builder.objectRef<{ id: string; name: string }>('Customer').implement({
    fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
  });
  builder.queryField('customer', (t) =>
    t.field({ type: Customer, resolve: () => ({ id: 'gid://shop/Customer/1', name: 'Ada' }) }),
  );
  addWebhooks(builder, addConnections(builder), { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
  return builder.toSchema();
}

import { acceptAnyId, addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { addCreateReferral } from '../schema/create-referral.ts';
import { addMatter } from '../schema/matter.ts';
import { addPartner } from '../schema/partner.ts';
import { addReferral } from '../schema/referral.ts';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  addPartner(builder);
  const Matter = addMatter(builder);
  const Referral = addReferral(builder, { Matter, connectionOf, checkId: acceptAnyId });
  addCreateReferral(builder, Referral);
  addWebhooks(builder, connectionOf, { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
  return builder.toSchema();
}

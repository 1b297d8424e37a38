import { addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { addLender } from '../schema/lender.ts';
import { addTeamMember } from '../schema/team-member.ts';

export function schema20261101(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  const TeamMember = addTeamMember(builder);
  addLender(builder, TeamMember);
  addWebhooks(builder, connectionOf);
  return builder.toSchema();
}

import { listTeamMembers } from '@deedwire/firm/lender';
import { acceptAnyId, addConnections, addWebhooks, createSchemaBuilder } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { lenderContext } from '../schema/lender-context.ts';
import { addLender } from '../schema/lender.ts';
import { addTeamMember } from '../schema/team-member.ts';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  const TeamMember = addTeamMember(builder);
  const Lender = addLender(builder);
  builder.objectField(Lender, 'members', (t) =>
    t.field({
      type: [TeamMember],
      resolve: (_, _args, { actions, caller }) => listTeamMembers(lenderContext.of(actions), caller),
    }),
  );
  addWebhooks(builder, connectionOf, { checkId: acceptAnyId, sequenceType: 'Int', eventsHaveId: true });
  return builder.toSchema();
}

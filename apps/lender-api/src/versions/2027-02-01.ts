import { pageTeamMembers } from '@deedwire/firm/lender';
import { addConnections, addWebhooks, createSchemaBuilder, requireIdOfType } from '@deedwire/graphql-server';
import type { GraphQLSchema } from 'graphql';
import { lenderContext } from '../schema/lender-context.ts';
import { addLender } from '../schema/lender.ts';
import { addTeamMember } from '../schema/team-member.ts';

export function createSchema(): GraphQLSchema {
  const builder = createSchemaBuilder();
  const connectionOf = addConnections(builder);
  const TeamMember = addTeamMember(builder);
  const Lender = addLender(builder);
  const TeamMemberConnection = connectionOf('TeamMember', TeamMember);
  builder.objectField(Lender, 'members', (t) =>
    t.field({
      type: TeamMemberConnection,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string() },
      resolve: (_, page, { actions, caller }) => pageTeamMembers(lenderContext.of(actions), caller, page),
    }),
  );
  addWebhooks(builder, connectionOf, { checkId: requireIdOfType, sequenceType: 'Long', eventsHaveId: false });
  return builder.toSchema();
}

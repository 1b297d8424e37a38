import { type Lender, listTeamMembers, readLender } from '@deedwire/actions';
import type { InterfaceSchemaBuilder } from '@deedwire/graphql-server';
import type { TeamMemberRef } from './team-member.ts';

/** `Lender` and `Query.lender`. */
export function addLender(builder: InterfaceSchemaBuilder, TeamMember: TeamMemberRef): void {
  const LenderType = builder.objectRef<Lender>('Lender').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
      members: t.field({
        type: [TeamMember],
        resolve: (_, _args, { actions, caller }) => listTeamMembers(actions, caller),
      }),
    }),
  });

  builder.queryField('lender', (t) =>
    t.field({ type: LenderType, resolve: (_, _args, { actions, caller }) => readLender(actions, caller) }),
  );
}

import type { TeamMember } from '@deedwire/firm/lender';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';

export type TeamMemberRef = ObjectTypeRef<TeamMember>;

/** Adds `TeamMember`. */
export function addTeamMember(builder: InterfaceSchemaBuilder): TeamMemberRef {
  return builder.objectRef<TeamMember>('TeamMember').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      firstName: t.exposeString('firstName'),
      lastName: t.exposeString('lastName'),
      email: t.exposeString('email'),
    }),
  });
}

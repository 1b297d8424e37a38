import { type Partner, readPartner } from '@deedwire/firm/partner';
import type { InterfaceSchemaBuilder } from '@deedwire/graphql-server';

/** Adds `Partner` and `Query.partner`. */
export function addPartner(builder: InterfaceSchemaBuilder): void {
  const PartnerType = builder.objectRef<Partner>('Partner').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
    }),
  });

  builder.queryField('partner', (t) =>
    t.field({ type: PartnerType, resolve: (_, _args, { actions, caller }) => readPartner(actions, caller) }),
  );
}

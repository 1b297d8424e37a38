import { type Lender, readLender } from '@deedwire/actions';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';

export type LenderRef = ObjectTypeRef<Lender>;

/** Adds `Lender` without its members, and `Query.lender`. */
export function addLender(builder: InterfaceSchemaBuilder): LenderRef {
  const LenderType = builder.objectRef<Lender>('Lender').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name'),
    }),
  });

  builder.queryField('lender', (t) =>
    t.field({ type: LenderType, resolve: (_, _args, { actions, caller }) => readLender(actions, caller) }),
  );
  return LenderType;
}

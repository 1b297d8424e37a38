import { ownLender, type OwnLender, readLenderName } from '@deedwire/firm/lender';
import type { InterfaceSchemaBuilder, ObjectTypeRef } from '@deedwire/graphql-server';
import { lenderContext } from './lender-context.ts';

export type LenderRef = ObjectTypeRef<OwnLender>;

/** Adds `Lender` without its members, and `Query.lender`. */
export function addLender(builder: InterfaceSchemaBuilder): LenderRef {
  const LenderType = builder.objectRef<OwnLender>('Lender').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.string({ resolve: (_, _args, { actions, caller }) => readLenderName(lenderContext.of(actions), caller) }),
    }),
  });

  builder.queryField('lender', (t) =>
    t.field({ type: LenderType, resolve: (_, _args, { actions, caller }) => ownLender(actions, caller) }),
  );
  return LenderType;
}

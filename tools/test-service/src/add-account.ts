import { readOwnAccount } from '@deedwire/actions/use-case';
import { formatAccountGid } from '@deedwire/core';
import type { InterfaceSchemaBuilder } from '@deedwire/graphql-server';
import { type InterfaceName, interfaces } from './interfaces.ts';

/** Adds the type of the accounts of an interface, and the query of the caller's own one: `Customer` and `Query.customer`. */
export function addAccount(builder: InterfaceSchemaBuilder, name: InterfaceName): void {
  const { account } = interfaces[name];
  const Account = builder.objectRef<{ id: string; name: string }>(account).implement({
    fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
  });
  builder.queryField(name, (t) =>
    t.field({
      type: Account,
      async resolve(_, _args, { actions, caller }) {
        const own = await readOwnAccount(actions, caller);
        return { id: formatAccountGid(actions, own.interfaceName, own.id), name: own.name };
      },
    }),
  );
}

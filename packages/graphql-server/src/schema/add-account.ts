import { readOwnAccount } from '@deedwire/actions/use-case';
import { formatAccountGid, type Interface } from '@deedwire/core';
import type { InterfaceSchemaBuilder } from './builder.ts';

/** Adds the type of the accounts of an interface, with `id` and `name`, and the query of the caller's own one: `Customer` and `Query.customer`. */
export function addAccount(builder: InterfaceSchemaBuilder, { account }: Pick<Interface, 'account'>): void {
  const Account = builder.objectRef<{ id: string; name: string }>(account).implement({
    fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
  });
  builder.queryField(account.charAt(0).toLowerCase() + account.slice(1), (t) =>
    t.field({
      type: Account,
      async resolve(_, _args, { actions, caller }) {
        const own = await readOwnAccount(actions, caller);
        return { id: formatAccountGid(actions, own.interfaceName, own.id), name: own.name };
      },
    }),
  );
}

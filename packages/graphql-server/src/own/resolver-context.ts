import type { Caller } from '@deedwire/actions';
import { readOwnAccount } from '@deedwire/actions/use-case';
import { formatAccountGid, gid, type GidContext, parseGid } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { sqlOn } from './sql.ts';
import type { ResolverContext } from './version-types.ts';

/** @param store where the request reads: a transaction, if it has one */
export function resolverContext<Of extends Caller>(
  context: GidContext,
  store: Database,
  caller: Of,
): ResolverContext & { caller: Of } {
  return {
    caller,
    async account() {
      const { id, externalId, name } = await readOwnAccount({ store }, caller);
      return { id: formatAccountGid(context, caller.interfaceName, id), externalId, name };
    },
    sql: sqlOn(store),
    gid: (typeName, id) => gid(context.gidNamespace, typeName, id),
    idOf: (typeName, value) => parseGid(context.gidNamespace, typeName, value),
  };
}

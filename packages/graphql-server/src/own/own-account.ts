import type { Caller } from '@deedwire/actions';
import { readOwnAccount } from '@deedwire/actions/use-case';
import { formatAccountGid, type GidContext } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import type { RequestAccount } from './version-types.ts';

/** @param store where the request reads: a transaction, if it has one */
export async function ownAccount(context: GidContext, store: Database, caller: Caller): Promise<RequestAccount> {
  const { id, externalId, name } = await readOwnAccount({ store }, caller);
  return { id: formatAccountGid(context, caller.interfaceName, id), externalId, name };
}

import type { AuthenticatedClient } from '@deedwire/auth';
import { toRecordId } from '@deedwire/domain';
import type { Caller } from './context.ts';

/** The caller of an authenticated request. */
export function toCaller(client: AuthenticatedClient, requestId: string): Caller {
  return { interfaceName: client.interfaceName, accountId: toRecordId(client.accountId), requestId };
}

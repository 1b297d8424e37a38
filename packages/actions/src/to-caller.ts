import type { AuthenticatedClient } from '@deedwire/auth';
import { toRecordId } from '@deedwire/domain';
import type { Caller } from './context.ts';

/** The caller of an authenticated request. */
export function toCaller(client: AuthenticatedClient, request: { requestId: string; address: string }): Caller {
  return {
    interfaceName: client.interfaceName,
    accountId: toRecordId(client.accountId),
    clientId: client.clientId,
    ...request,
  };
}

import { randomBytes, randomUUID } from 'node:crypto';
import type { AuthenticatedClient } from '@deedwire/auth';
import { type Ability, type AccountId, type InterfaceName, type Service, toRecordId } from '@deedwire/core';
import type { SecretKeyRing, Store } from '@deedwire/store';
import type { HostProblem, WebhookSender } from '@deedwire/webhook-sender';

/** The dependencies of every use case. */
export interface ActionContext {
  store: Store;
  service: Service;
  /** The namespace of global identifiers, `gid://<namespace>/…`. */
  gidNamespace: string;
  /** The wall clock. */
  now: () => Date;
  random: Random;
}

/** The dependencies of use cases that call a callback URL or handle a webhook secret. */
export interface WebhookActionContext extends ActionContext {
  sender: WebhookSender;
  /** Logs why the host name of a callback URL could not be called, which is not in the response. */
  reportHostProblem: (problem: HostProblem & { requestId: string | undefined }) => void;
  secretKeys: SecretKeyRing;
}

/** The person who runs an operator's command, for the audit log. */
export interface Operator {
  name: string;
  /** The machine that runs the command. */
  host: string;
  /** Identifies the run of the command. */
  requestId: string;
}

/** The dependencies of every use case of an operator. */
export interface OperatorContext extends ActionContext {
  operator: Operator;
}

/** The authenticated account that a use case runs for. */
export interface Caller {
  interfaceName: InterfaceName;
  accountId: AccountId;
  clientId: string;
  /** The address that the request came from. Omitted outside of a request. */
  address?: string;
  /** The key of the request. Omitted outside of a request, and in a session of the portal. */
  keyId?: string;
  /** Of the key, or of the session. Omitted outside of a request. */
  abilities?: readonly Ability[];
  /**
   * Of a session of the portal: the client whose keys it manages, which is not its own, and what they can have at most. Omitted for a request
   * with a key: both are those of the key.
   */
  keys?: { clientId: string | null; abilities: readonly Ability[] };
  /** The session of the portal that sends the request, and the key that created its link. Omitted for a request with a key. */
  portal?: { sessionId: string; actor: string; keyId: string | null };
  /** Logged with everything that results from the request. Omitted outside of a request. */
  requestId?: string;
  /** The `traceparent` of the operation, which the events that it causes keep. Omitted unless it is traced. */
  traceParent?: string;
}

/** Who runs a use case for an account: the account itself, or an operator. */
export function isCaller(by: Caller | Operator): by is Caller {
  return 'clientId' in by;
}

/** The caller of an authenticated request. */
export function toCaller(
  client: AuthenticatedClient,
  request: Pick<Caller, 'keyId' | 'abilities' | 'portal'> & { requestId: string; address: string },
): Caller {
  return {
    interfaceName: client.interfaceName,
    accountId: toRecordId(client.accountId),
    clientId: client.clientId,
    ...request,
  };
}

/** A source of unpredictable values. */
export interface Random {
  bytes(size: number): Buffer;
  uuid(): string;
}

/** The random number generator of the operating system. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size), uuid: () => randomUUID() };

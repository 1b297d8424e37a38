import type { IncomingMessage } from 'node:http';
import type { PortalSession } from '@deedwire/actions';
import {
  addressBlock,
  type AuthenticatedClient,
  type AuthenticationRefusal,
  type AuthenticationResult,
  type Authenticator,
  readCredentials,
} from '@deedwire/auth';
import { type Ability, type InterfaceName, requestHeaders, type Service } from '@deedwire/core';
import { createLineThrottle, type Logger } from '@deedwire/service-runtime';
import { Counter, type Registry } from 'prom-client';
import type { ErrorCode } from '../errors/error-table.ts';
import { RequestError } from '../errors/request-error.ts';

export interface RequestAuthenticatorOptions {
  service: Service;
  interfaceName: InterfaceName;
  authenticator: Authenticator;
  logger: Logger;
  metrics: Registry;
  monotonicMs?: () => number;
}

/** Already logged. */
export class CredentialsRefusedError extends RequestError {}

export interface AuthenticatedRequest {
  client: AuthenticatedClient;
  /** Undefined for a link or a session of the portal that an operator created. */
  keyId: string | undefined;
  /** Of the key, or of the session. */
  abilities: readonly Ability[];
  /** Undefined unless it is a request of the portal. */
  session?: PortalSession;
}

export type AuthenticationRefused = Exclude<AuthenticationResult, { kind: 'authenticated' }>;

export interface RequestAuthenticator {
  /** @throws {CredentialsRefusedError} if the request has no valid credentials of the interface */
  authenticate(
    request: Pick<IncomingMessage, 'headers'>,
    origin: { requestId: string; address: string },
  ): AuthenticatedRequest | Promise<AuthenticatedRequest>;
  /**
   * Logs and counts a refusal.
   *
   * @param unauthenticated replaces the message of `UNAUTHENTICATED`
   * @throws {CredentialsRefusedError} always
   */
  refuse(
    refused: AuthenticationRefused,
    origin: { requestId: string; address: string },
    unauthenticated?: string,
  ): never;
}

const rateLimited =
  'This address has sent more than 50 requests without valid credentials in a second. Retry after the time in the Retry-After header.';

/**
 * Authenticates requests. Logs and counts each refusal by its reason; those beyond the rate limit of an address have one line per
 * second. The response does not say the reason.
 */
export function createRequestAuthenticator(options: RequestAuthenticatorOptions): RequestAuthenticator {
  const { service, interfaceName, authenticator, logger, metrics, monotonicMs = () => performance.now() } = options;
  const rateLimitedLines = createLineThrottle({ monotonicMs });
  const refused = new Counter({
    name: 'deedwire_refused_credentials_total',
    help: 'Requests that were refused because of their credentials, by interface and reason.',
    labelNames: ['interface', 'reason'],
    registers: [metrics],
  });

  return {
    authenticate({ headers }, origin) {
      const result = authenticator.authenticate(readCredentials(service, headers), origin.address);
      return result instanceof Promise ? result.then((later) => accept(later, origin)) : accept(result, origin);
    },
    refuse,
  };

  function accept(result: AuthenticationResult, origin: { requestId: string; address: string }): AuthenticatedRequest {
    if (result.kind !== 'authenticated') return refuse(result, origin);
    const { client, keyId, abilities } = result;
    return { client, keyId, abilities };
  }

  function refuse(
    { kind, refusal }: AuthenticationRefused,
    { requestId, address }: { requestId: string; address: string },
    unauthenticated?: string,
  ): never {
    const { reason, foreign, ...key }: AuthenticationRefusal = refusal;
    const { code, message } = refusals[kind](options);
    refused.inc({ interface: interfaceName, reason });
    const suppressedLines = reason === 'rate_limited' ? rateLimitedLines.pass(addressBlock(address)) : 0;
    if (suppressedLines !== null) {
      const line = { requestId, reason, ...foreign, ...key, address, code, suppressedLines, security: true };
      logger.warn(line, 'credentials refused');
    }
    throw new CredentialsRefusedError(code, { message: (kind === 'unauthenticated' && unauthenticated) || message });
  }
}

interface RefusalResponse {
  code: ErrorCode;
  message: string;
}

const refusals: Record<
  AuthenticationRefused['kind'],
  (options: Pick<RequestAuthenticatorOptions, 'service' | 'interfaceName'>) => RefusalResponse
> = {
  unauthenticated({ service }) {
    const { clientId, apiKey, organizationId } = requestHeaders(service);
    const message = `The credentials are missing or invalid. Check ${clientId}, ${apiKey} and ${organizationId}.`;
    return { code: 'UNAUTHENTICATED', message };
  },
  wrong_interface: ({ interfaceName }) => ({
    code: 'WRONG_INTERFACE',
    message: `The API key belongs to another interface. Use a key of the ${interfaceName} interface, or send the request to the interface of the key.`,
  }),
  rate_limited: () => ({ code: 'RATE_LIMITED', message: rateLimited }),
};

import type { IncomingMessage } from 'node:http';
import {
  type AuthenticatedClient,
  type AuthenticationRefusal,
  type AuthenticationResult,
  type Authenticator,
  readCredentials,
} from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/domain';
import { addressBlock, type Logger } from '@deedwire/service-runtime';
import { Counter, type Registry } from 'prom-client';
import { RequestError } from '../errors/request-error.ts';

export interface RequestAuthenticatorOptions {
  interfaceName: InterfaceName;
  authenticator: Authenticator;
  logger: Logger;
  metrics: Registry;
}

export interface RequestAuthenticator {
  /** @throws {RequestError} if the request has no valid credentials of the interface */
  authenticate(
    request: Pick<IncomingMessage, 'rawHeaders'>,
    origin: { requestId: string; address: string },
  ): Promise<{ client: AuthenticatedClient; keyId: string }>;
}

const rateLimited =
  'This address has sent more than 50 requests without valid credentials in a second. Retry after the time in the Retry-After header.';

/** Authenticates requests. Logs and counts each refusal by its reason. The response does not say the reason. */
export function createRequestAuthenticator(options: RequestAuthenticatorOptions): RequestAuthenticator {
  const { interfaceName, authenticator, logger, metrics } = options;
  const refusals = new Counter({
    name: 'deedwire_refused_credentials_total',
    help: 'Requests that were refused because of their credentials, by interface and reason.',
    labelNames: ['interface', 'reason'],
    registers: [metrics],
  });

  return {
    async authenticate({ rawHeaders }, { requestId, address }) {
      const result = await authenticator.authenticate(readCredentials(rawHeaders), addressBlock(address));
      if (result.kind === 'authenticated') return { client: result.client, keyId: result.keyId };
      const { reason, ...key }: AuthenticationRefusal = result.refusal;
      refusals.inc({ interface: interfaceName, reason });
      logger.warn({ requestId, reason, ...key, address }, 'credentials refused');
      throw refusalError(result);
    },
  };
}

function refusalError({ kind }: Exclude<AuthenticationResult, { kind: 'authenticated' }>): RequestError {
  switch (kind) {
    case 'unauthenticated':
      return new RequestError('UNAUTHENTICATED');
    case 'wrong_interface':
      return new RequestError('WRONG_INTERFACE');
    case 'rate_limited':
      return new RequestError('RATE_LIMITED', { message: rateLimited });
  }
}

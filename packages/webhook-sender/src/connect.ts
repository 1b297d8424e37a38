import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AttemptError, errorCode } from './attempt-error.ts';
import type { ConnectSteps } from './connect-steps.ts';
import { hostAddress } from './host-address.ts';
import { type EgressProxy, openTunnel, TunnelError } from './proxy-tunnel.ts';

// The time after which the next address is tried. Node's default of 250 ms is too short for distant receivers.
const addressAttemptMs = 1000;

/**
 * Opens a connection to one of `addresses`, which must be vetted, and resolves no name of a receiver. SNI and the certificate check
 * use the host name of the URL. TLS is version 1.2 or later, and certificates are verified even if
 * NODE_TLS_REJECT_UNAUTHORIZED is 0.
 *
 * @param proxy opens a tunnel to the address. Null for a direct connection
 * @throws {AttemptError} when the connection fails: `CONNECTION_FAILED`, `TLS_FAILED` or `TIMEOUT`.
 */
export async function connect(
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal,
  steps: ConnectSteps,
  proxy: EgressProxy | null,
): Promise<Socket> {
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const tunnel = proxy && (await tunnelToAny(proxy, url, addresses, port, signal, steps));
  if (tunnel !== null && !secure) return tunnel;
  const to = tunnel === null ? tcpOptions(url, addresses, port) : { socket: tunnel };
  const socket = secure
    ? connectTls({
        ...to,
        // SNI must not contain an address. Without SNI, Node checks the certificate against the address.
        ...(hostAddress(url) === null ? { servername: url.hostname } : tunnel !== null && { host: addresses[0] }),
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
      })
    : connectTcp(tcpOptions(url, addresses, port));

  let step: 'tcp' | 'tls' = tunnel === null ? 'tcp' : 'tls';
  if (tunnel === null) {
    socket.on('connectionAttempt', (address: string) => {
      steps.address = address;
    });
    socket.once('connect', () => {
      step = 'tls';
      steps.connected();
    });
  }
  if (secure) socket.once('secureConnect', () => steps.secured());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(signal.reason);
  // The listener is never removed: an error after the deadline would otherwise be an uncaught exception.
  socket.on('error', reject);
  socket.once(secure ? 'secureConnect' : 'connect', () => resolve());
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    await promise;
    return socket.setNoDelay(true);
  } catch (error) {
    socket.destroy();
    throw connectError(url, step, error, signal.aborted);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Asks the proxy for each address in turn, until it opens a tunnel to one. */
async function tunnelToAny(
  proxy: EgressProxy,
  url: URL,
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
  steps: ConnectSteps,
): Promise<Socket> {
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    steps.address = address;
    try {
      const until = isLast ? signal : AbortSignal.any([signal, AbortSignal.timeout(addressAttemptMs)]);
      const tunnel = await openTunnel(proxy, address, port, until);
      steps.connected();
      return tunnel.setNoDelay(true);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      if (isLast || signal.aborted || !error.problem.mayBeReceiver) throw tunnelError(url, error, signal.aborted);
    }
  }
  throw new AttemptError('CONNECTION_FAILED', `${url.host} has no address.`);
}

function tunnelError(url: URL, error: TunnelError, timedOut: boolean): AttemptError {
  const details = { proxyProblem: error.problem, cause: error };
  if (!error.problem.mayBeReceiver) {
    return new AttemptError('CONNECTION_FAILED', 'The service could not open a connection. Try again later.', details);
  }
  return timedOut
    ? new AttemptError('TIMEOUT', acceptProblem(url), details)
    : new AttemptError('CONNECTION_FAILED', `Could not connect to ${url.host}: ${tcpProblem('')}.`, details);
}

function acceptProblem({ host }: URL): string {
  return `${host} did not accept the connection. Check that no firewall blocks it.`;
}

function tcpOptions(url: URL, addresses: readonly string[], port: number): TcpNetConnectOpts {
  const literal = hostAddress(url);
  if (literal !== null) return { host: literal, port };
  const lookup: LookupFunction = (_hostname, _options, callback) => {
    callback(
      null,
      addresses.map((each) => ({ address: each, family: isIP(each) })),
    );
  };
  return { host: url.hostname, port, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: addressAttemptMs };
}

function connectError(url: URL, step: 'tcp' | 'tls', error: unknown, timedOut: boolean): AttemptError {
  const where = url.host;
  const code = errorCode(error);
  if (step === 'tls') {
    return timedOut
      ? new AttemptError('TIMEOUT', `${where} accepted the connection but did not complete the TLS handshake.`, {
          cause: error,
        })
      : new AttemptError('TLS_FAILED', `Could not establish a TLS connection to ${where}: ${tlsProblem(code)}.`, {
          cause: error,
        });
  }
  return timedOut
    ? new AttemptError('TIMEOUT', acceptProblem(url), { cause: error })
    : new AttemptError('CONNECTION_FAILED', `Could not connect to ${where}: ${tcpProblem(code)}.`, { cause: error });
}

function tcpProblem(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused. Check that the server is running and that no firewall blocks the port';
    case 'ECONNRESET':
      return 'the connection was reset';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'the host is unreachable';
    case 'ETIMEDOUT':
      return 'the host did not respond';
    default:
      return `the connection failed${code === '' ? '' : ` (${code})`}`;
  }
}

function tlsProblem(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'the certificate has expired. Renew it';
    case 'CERT_NOT_YET_VALID':
      return 'the certificate is not valid yet';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'the certificate is self-signed. Use a certificate of a public certificate authority';
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'the certificate chain does not lead to a public certificate authority. Check that the server sends its intermediate certificates';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'the certificate is for another host name. Use a certificate for this host name';
    case 'ECONNRESET':
      return 'the server closed the connection during the TLS handshake';
    default:
      return `the TLS handshake failed${code === '' ? '' : ` (${code})`}. Check that the server supports TLS 1.2 or later on this port`;
  }
}

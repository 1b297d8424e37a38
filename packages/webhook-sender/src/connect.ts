import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AttemptError, errorCode } from './attempt-error.ts';
import { hostAddress } from './host-address.ts';

// How long one address may take before the next is tried. Node's default of 250 ms gives up on receivers far away.
const addressAttemptMs = 1000;

/**
 * A connection to one of `addresses`, which are vetted: nothing is resolved here. SNI and the certificate check use the
 * URL's own name. TLS is of version 1.2 or later and always verified, whatever the environment says.
 * @throws AttemptError `CONNECTION_FAILED`, `TLS_FAILED`, `TIMEOUT`
 */
export async function connect(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<Socket> {
  const secure = url.protocol === 'https:';
  const tcp = tcpOptions(url, addresses, secure ? 443 : 80);
  const socket = secure
    ? connectTls({
        ...tcp,
        // SNI carries names only; without it the certificate is checked against the address.
        ...(hostAddress(url) === null && { servername: url.hostname }),
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
        ALPNProtocols: ['http/1.1'],
      })
    : connectTcp(tcp);

  let step: 'tcp' | 'tls' = 'tcp';
  socket.once('connect', () => {
    step = 'tls';
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(signal.reason);
  // Stays: an error after we have given up on the socket must not be an uncaught one.
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

function tcpOptions(url: URL, addresses: readonly string[], defaultPort: number): TcpNetConnectOpts {
  const port = url.port === '' ? defaultPort : Number(url.port);
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
      ? new AttemptError('TIMEOUT', `${where} accepted the connection, but the TLS handshake was not done.`, {
          cause: error,
        })
      : new AttemptError('TLS_FAILED', `No TLS connection to ${where}: ${tlsProblem(code)}.`, { cause: error });
  }
  return timedOut
    ? new AttemptError('TIMEOUT', `${where} did not accept the connection.`, { cause: error })
    : new AttemptError('CONNECTION_FAILED', `No connection to ${where}: ${tcpProblem(code)}.`, { cause: error });
}

function tcpProblem(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'it was refused; nothing listens there, or a firewall forbids it';
    case 'ECONNRESET':
      return 'it was reset';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no route to it';
    case 'ETIMEDOUT':
      return 'there was no answer';
    default:
      return `it failed${code === '' ? '' : ` (${code})`}`;
  }
}

function tlsProblem(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired';
    case 'CERT_NOT_YET_VALID':
      return 'its certificate is not valid yet';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'its certificate is self-signed';
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return 'its certificate chain does not lead to a public authority; is an intermediate certificate missing?';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'its certificate is for another name';
    case 'ECONNRESET':
      return 'it closed the connection during the TLS handshake';
    default:
      return `the TLS handshake failed${code === '' ? '' : ` (${code})`}; does it speak TLS 1.2 or later there?`;
  }
}

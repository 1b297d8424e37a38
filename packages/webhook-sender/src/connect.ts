import { connect as connectTcp, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { type AttemptCause, describeCause } from './attempt-cause.ts';
import { AttemptError, type AttemptErrorClass, errorCode, isBug } from './attempt-error.ts';
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
 * @throws {AttemptError} when the connection fails: `CONNECTION_FAILED`, `TLS_FAILED` or `TIMEOUT`. Any other error is a bug.
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

  // What fails before anything can arrive from the network was refused by this machine, for each of the addresses.
  let isOfThisMachine = true;
  const later = setImmediate(() => {
    isOfThisMachine = false;
  });
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
    const isOfCertificate = socket instanceof TLSSocket && Boolean(socket.authorizationError);
    throw isBug(error) ? error : connectError(url, { step, isOfThisMachine, isOfCertificate }, error, signal.aborted);
  } finally {
    clearImmediate(later);
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
    return causedBy('NOT_OPENED', 'CONNECTION_FAILED', url, details);
  }
  return timedOut
    ? causedBy('NOT_ACCEPTED', 'TIMEOUT', url, details)
    : new AttemptError('CONNECTION_FAILED', `Could not connect to ${url.host}: the connection failed.`, details);
}

function tcpOptions(url: URL, addresses: readonly string[], port: number): TcpNetConnectOpts {
  const literal = hostAddress(url);
  if (literal !== null) return { host: literal, port };
  const found = addresses.map((each) => ({ address: each, family: isIP(each) }));
  // In a later tick, as a lookup in DNS. Node would otherwise connect before it returns the socket: a connection that fails at once, for
  // example without a route, then has no listener for its error, which ends the process.
  const lookup: LookupFunction = (_hostname, _options, callback) => process.nextTick(callback, null, found);
  return { host: url.hostname, port, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: addressAttemptMs };
}

/** By the error codes of Node. */
const tcpCauses: ReadonlyMap<string, AttemptCause> = new Map([
  ['ECONNREFUSED', 'REFUSED'],
  ['ECONNRESET', 'RESET'],
  ['ETIMEDOUT', 'NOT_ACCEPTED'],
  ['EHOSTUNREACH', 'UNREACHABLE'],
  ['ENETUNREACH', 'UNREACHABLE'],
  ['EHOSTDOWN', 'UNREACHABLE'],
  ['ENETDOWN', 'UNREACHABLE'],
  // Linux, for a route of type `prohibit` and of type `blackhole`, and for a firewall of this machine.
  ['EACCES', 'UNREACHABLE'],
  ['EINVAL', 'UNREACHABLE'],
  ['EPERM', 'UNREACHABLE'],
  // This machine has no address of the same family, or no free port.
  ['EADDRNOTAVAIL', 'UNREACHABLE'],
  ['EMFILE', 'NOT_OPENED'],
  ['ENFILE', 'NOT_OPENED'],
  ['ENOBUFS', 'NOT_OPENED'],
  ['ENOMEM', 'NOT_OPENED'],
]);

/** Causes that tell less than the code of the system. */
const shownWithCode: ReadonlySet<AttemptCause> = new Set(['NOT_OPENED', 'UNREACHABLE']);

const tlsCauses: ReadonlyMap<string, AttemptCause> = new Map([
  ['CERT_HAS_EXPIRED', 'CERTIFICATE_EXPIRED'],
  ['CERT_NOT_YET_VALID', 'CERTIFICATE_NOT_YET_VALID'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERTIFICATE_SELF_SIGNED'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'CERTIFICATE_CHAIN'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'CERTIFICATE_CHAIN'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERTIFICATE_CHAIN'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERTIFICATE_CHAIN'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERTIFICATE_OF_OTHER_HOST'],
  ['ECONNRESET', 'TLS_CLOSED'],
  ['EPIPE', 'TLS_CLOSED'],
]);

// Errors that OpenSSL names by the alert of the server.
const alertCode = /^ERR_SSL_(?:SSL\/TLS|SSLV3|TLSV1|TLSV13)_/;

/** @param isOfCertificate whether the certificate was verified, and not accepted */
function tlsCause(code: string, isOfCertificate: boolean): AttemptCause {
  const known = tlsCauses.get(code);
  if (known !== undefined) return known;
  if (isOfCertificate) return 'CERTIFICATE_UNSUITABLE';
  return alertCode.test(code) ? 'TLS_REFUSED' : 'TLS_NOT_POSSIBLE';
}

interface Failure {
  step: 'tcp' | 'tls';
  isOfThisMachine: boolean;
  isOfCertificate: boolean;
}

function connectError(
  url: URL,
  { step, isOfThisMachine, isOfCertificate }: Failure,
  error: unknown,
  timedOut: boolean,
): AttemptError {
  const code = errorCode(error);
  const details = { cause: error };
  if (timedOut) return causedBy(step === 'tcp' ? 'NOT_ACCEPTED' : 'TLS_NOT_COMPLETED', 'TIMEOUT', url, details);
  if (step === 'tls') {
    const attemptCause = tlsCause(code, isOfCertificate);
    return causedBy(attemptCause, 'TLS_FAILED', url, details, code.startsWith('ERR_SSL_') ? code : null);
  }
  const ofCode = tcpCauses.get(code);
  const known = ofCode === 'UNREACHABLE' && isOfThisMachine ? 'NOT_OPENED' : ofCode;
  if (known !== undefined)
    return causedBy(known, 'CONNECTION_FAILED', url, details, shownWithCode.has(known) ? code : null);
  const shownCode = code === '' ? '' : ` (${code})`;
  return new AttemptError(
    'CONNECTION_FAILED',
    `Could not connect to ${url.host}: the connection failed${shownCode}.`,
    details,
  );
}

/** @param found a code that tells more than the cause. Null if none does */
function causedBy(
  attemptCause: AttemptCause,
  code: AttemptErrorClass,
  { host }: URL,
  details: Pick<NonNullable<ConstructorParameters<typeof AttemptError>[2]>, 'cause' | 'proxyProblem'>,
  found: string | null = null,
): AttemptError {
  const message = describeCause(attemptCause, host) + (found === null ? '' : ` The error is ${found}.`);
  return new AttemptError(code, message, { attemptCause, ...details });
}

import { X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { type ConnectionOptions as TlsOptions, createSecureContext } from 'node:tls';
import ConnectionParameters from 'pg/lib/connection-parameters';

/**
 * What keeps others from reading a connection, or from taking the place of the server:
 * - `socket`: a Unix socket
 * - `loopback`: it does not leave this machine, unless a proxy or a tunnel listens there
 * - `verified-tls`: TLS that verifies the chain and the host name of the server's certificate
 * - `unverified-tls`: TLS that accepts the certificate of another server
 * - `none`
 */
export type ConnectionProtection = 'socket' | 'loopback' | 'verified-tls' | 'unverified-tls' | 'none';

/** All that a URL decides about a connection. Nothing else in the URL has an effect. */
export interface ConnectionOptions {
  host: string;
  port: number;
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** The settings of the session that the URL asks for. */
  options: string;
  /** Only if the URL contains a name. */
  application_name?: string;
  ssl: false | TlsOptions;
  sslnegotiation: 'postgres' | 'direct';
}

/** A database URL that cannot be used. The message contains no password. */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError';
}

/**
 * Reads a URL as pg does, with what the environment (PGHOST, PGSSLMODE …) and the parameters of the URL replace in it.
 *
 * @throws {DatabaseUrlError} if the URL is malformed, or a certificate file cannot be read
 */
export function connectionOptions(databaseUrl: string): ConnectionOptions {
  const parameters = parse(databaseUrl);
  const { host = '', port = 0, user, password, database, options = '' } = parameters;
  if (host.includes(',') && !host.startsWith('/')) throw new DatabaseUrlError(severalHosts);
  if (!(port >= 1 && port <= 65_535)) throw new DatabaseUrlError('has a port that is not a number from 1 to 65535');
  const ssl = tlsOptions(parameters.ssl);
  const [, search] = databaseUrl.split('?', 2);
  const applicationName = new URLSearchParams(search).get('application_name') ?? '';
  return {
    // Without TLS, nothing would notice that this name leads to another machine.
    host: ssl === false && host.toLowerCase() === 'localhost' ? '127.0.0.1' : host,
    port,
    user,
    password: typeof password === 'string' ? password : undefined,
    database,
    options,
    ...(applicationName !== '' && { application_name: applicationName }),
    ssl,
    sslnegotiation: 'sslnegotiation' in parameters && parameters.sslnegotiation === 'direct' ? 'direct' : 'postgres',
  };
}

/** Where `databaseUrl` leads: the host, the port and the name of the database. @throws {DatabaseUrlError} as `connectionOptions` does */
export function databaseAddress(databaseUrl: string): string {
  const { host, port, database = '' } = connectionOptions(databaseUrl);
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** How the connection that `databaseUrl` leads to is protected. @throws {DatabaseUrlError} as `connectionOptions` does */
export function connectionProtection(databaseUrl: string): ConnectionProtection {
  const { host, ssl } = connectionOptions(databaseUrl);
  if (verifiesServer(ssl)) return 'verified-tls';
  if (host.startsWith('/')) return 'socket';
  if (isLoopback(host)) return 'loopback';
  return ssl === false ? 'none' : 'unverified-tls';
}

/** Whether only the server that the URL names can read what is sent. */
export function verifiesServer(ssl: ConnectionOptions['ssl']): boolean {
  return ssl !== false && ssl.rejectUnauthorized === true && ssl.checkServerIdentity === undefined;
}

const severalHosts =
  'names several hosts, but must name one; let it be a proxy that knows the primary, as docs/operations/backup.md#failover shows';

function parse(databaseUrl: string): ConnectionParameters {
  // With ports, pg could not read it.
  if (/^\w+:\/\/(?:[^/?#]*@)?[^/?#@]*,/.test(databaseUrl)) throw new DatabaseUrlError(severalHosts);
  try {
    return new ConnectionParameters(databaseUrl);
  } catch (error) {
    // The errors of pg and of `fs` contain no part of the URL but names of files.
    throw new DatabaseUrlError(`cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function tlsOptions(ssl: unknown): ConnectionOptions['ssl'] {
  if (ssl === undefined || ssl === null || ssl === false || ssl === '') return false;
  if (ssl !== true && typeof ssl !== 'object') {
    throw new DatabaseUrlError('has an unknown value of the parameter ssl; use sslmode=verify-full instead');
  }
  const { ca, cert, key, rejectUnauthorized, checkServerIdentity }: TlsOptions = ssl === true ? {} : ssl;
  try {
    // Node ignores a file that contains no certificate.
    if (typeof ca === 'string') void new X509Certificate(ca);
    createSecureContext({ cert, key });
  } catch {
    throw new DatabaseUrlError('has a sslrootcert, sslcert or sslkey that is no certificate or key in the PEM format');
  }
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    // Stated, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: rejectUnauthorized !== false,
    ...(checkServerIdentity !== undefined && { checkServerIdentity }),
  };
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** A name never is: name servers decide where it leads. */
function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

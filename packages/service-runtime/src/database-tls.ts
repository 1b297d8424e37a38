import { type ConnectionProtection, connectionProtection } from '@deedwire/store';
import { z } from 'zod';
import { databaseUrlVariable } from './config-variables.ts';
import { runtimeConfig } from './runtime-config.ts';

/** The variables that decide whether a connection to PostgreSQL needs verified TLS. */
export const databaseTlsConfig = {
  NODE_ENV: runtimeConfig.NODE_ENV,
  /** `off` is for networks that protect the connection themselves. */
  DATABASE_TLS: z.enum(['required', 'off'], 'must be required or off').default('required'),
};

export type DatabaseTlsConfig = z.output<z.ZodObject<typeof databaseTlsConfig>>;

const urls = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'NEW_CELL_DATABASE_URL'] as const;

/** `DATABASE_TLS` is missing where no database is. */
export type DatabaseUrls = Pick<DatabaseTlsConfig, 'NODE_ENV'> &
  Partial<DatabaseTlsConfig> &
  Partial<Record<(typeof urls)[number], string | undefined>>;

const found: Record<ConnectionProtection, string | null> = {
  socket: null,
  loopback: null,
  'verified-tls': null,
  'unverified-tls': 'it does not verify the chain and the host name of the certificate',
  none: 'it does not use TLS',
};

/** What keeps `url` from being used with this configuration, as the end of a sentence. Null if nothing does. */
export function databaseTlsProblem(url: string, { NODE_ENV, DATABASE_TLS }: DatabaseTlsConfig): string | null {
  if (NODE_ENV !== 'production' || DATABASE_TLS === 'off') return null;
  const problem = found[connectionProtection(url)];
  if (problem === null) return null;
  return (
    `must use verified TLS, because the server is on another machine; ${problem}. Add sslmode=verify-full, and ` +
    'sslrootcert=<file> for a private CA, or set DATABASE_TLS=off if the network protects the connection'
  );
}

/** The variables whose URLs lead to a port of this machine without TLS, where a proxy or a tunnel may listen. */
export function loopbackUrls(config: DatabaseUrls): string[] {
  if (config.NODE_ENV !== 'production' || config.DATABASE_TLS === 'off') return [];
  return urls.filter((name) => {
    const url = config[name];
    return url !== undefined && connectionProtection(url) === 'loopback';
  });
}

/** For `superRefine`: adds the problems of the URLs to those of the other variables. */
export function checkDatabaseTls(config: DatabaseTlsConfig & DatabaseUrls, context: z.core.$RefinementCtx): void {
  for (const name of urls) {
    const url = config[name];
    // The variable itself reports a URL that cannot be used.
    if (url === undefined || !databaseUrlVariable().safeParse(url).success) continue;
    const message = databaseTlsProblem(url, config);
    if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
  }
}

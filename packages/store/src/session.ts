import { Client } from 'pg';
import { toStoreError } from './errors.ts';
import { keepAliveOptions } from './keep-alive.ts';
import { type SessionSettings, startupOptions } from './session-settings.ts';

/** One connection, without a transaction, for statements that keep locks between them or refuse to run in a transaction. */
export interface Session {
  /** Runs one statement, which is not prepared. */
  execute(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
}

export interface SessionOptions {
  /** A direct connection: a transaction pooler would run each statement in another session. */
  directUrl: string;
  applicationName: string;
  settings: SessionSettings;
  /** The maximum duration of a statement. */
  queryTimeoutMs: number;
}

/**
 * Opens a connection for `work` and closes it afterwards, which releases its locks.
 *
 * @throws {StoreUnavailableError}
 */
export async function withSession<Result>(
  { directUrl, applicationName, settings, queryTimeoutMs }: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: directUrl,
    application_name: applicationName,
    options: startupOptions(settings),
    query_timeout: queryTimeoutMs,
    connectionTimeoutMillis: queryTimeoutMs,
    ...keepAliveOptions,
  });
  // Without a listener, an error of the idle connection would end this process. The next statement reports the error.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work({
      async execute(text, values = []) {
        const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
        return rows;
      },
    });
  } catch (error) {
    throw toStoreError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

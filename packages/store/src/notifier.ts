import type { Client } from 'pg';
import { createClient } from './connect.ts';
import { reconnectMaxMs, wakeChannel } from './wake-channel.ts';

// At most one statement per interval, however many transactions commit.
const notifyIntervalMs = 10;

export interface Notifier {
  /**
   * Notifies the workers soon, once for equal payloads. Call it after the commit: a NOTIFY inside a transaction serializes
   * commits.
   */
  notify(payload: string): void;
  /** Sends the waiting notifications and closes the connection. */
  close(): Promise<void>;
}

export interface NotifierOptions {
  databaseUrl: string;
  applicationName: string;
  /** Called when a notification could not be sent. No work is lost: workers also poll. */
  onError: (error: unknown) => void;
}

/** Notifies on its own connection, which it opens at the first notification. */
export function createNotifier(options: NotifierOptions): Notifier {
  const waiting = new Set<string>();
  let client: Client | null = null;
  let running: Promise<void> | null = null;
  let closed = false;

  const connect = async (): Promise<Client> => {
    const opened = createClient(options.databaseUrl, {
      application_name: options.applicationName,
      connectionTimeoutMillis: reconnectMaxMs,
      query_timeout: reconnectMaxMs,
    });
    opened.on('error', () => {
      if (client === opened) client = null;
    });
    await opened.connect();
    client = opened;
    return opened;
  };

  const run = async (): Promise<void> => {
    while (waiting.size > 0 && !closed) {
      const payloads = [...waiting];
      waiting.clear();
      try {
        const connection = client ?? (await connect());
        await connection.query(`select pg_notify($1, payload) from unnest($2::text[]) payload`, [
          wakeChannel,
          payloads,
        ]);
      } catch (error) {
        const broken = client;
        client = null;
        void broken?.end().catch(() => {});
        options.onError(error);
      }
      await new Promise((resolve) => setTimeout(resolve, notifyIntervalMs));
    }
    running = null;
  };

  return {
    notify(payload) {
      waiting.add(payload);
      running ??= run();
    },
    async close() {
      await running;
      closed = true;
      await client?.end();
    },
  };
}

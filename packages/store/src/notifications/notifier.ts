import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { createClient } from '../connections/connect.ts';
import { notifyStatement, reconnectMaxMs } from './wake-channel.ts';

// At most one statement per interval, however many transactions commit.
const notifyIntervalMs = 10;

export interface Notifier {
  /**
   * Notifies the workers soon, once for equal payloads. Call it after the commit: a NOTIFY inside a transaction serializes
   * commits.
   */
  notify(payload: string): void;
  /**
   * Whether the caller shall notify now, by itself: no notification waits, and none was sent in the last 10 ms. Later ones wait
   * as if this one had been sent here.
   */
  leavesToCaller(): boolean;
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
        await connection.query(notifyStatement.text, [payloads]);
      } catch (error) {
        const broken = client;
        client = null;
        void broken?.end().catch(() => {});
        options.onError(error);
      }
      await sleep(notifyIntervalMs);
    }
    running = null;
  };

  return {
    notify(payload) {
      waiting.add(payload);
      running ??= run();
    },
    leavesToCaller() {
      if (running !== null || closed) return false;
      running = sleep(notifyIntervalMs).then(run);
      return true;
    },
    async close() {
      await running;
      closed = true;
      await client?.end();
    },
  };
}

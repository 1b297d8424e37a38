import type { Client } from 'pg';
import { createClient } from '../connections/connect.ts';
import { reconnectMaxMs, wakeChannel } from './wake-channel.ts';

const reconnectMinMs = 100;

export interface Listener {
  close(): Promise<void>;
}

export interface ListenerOptions {
  /** A direct connection: behind a transaction pooler, LISTEN has no effect. */
  databaseUrl: string;
  applicationName: string;
  /**
   * Called for each notification.
   *
   * @param payload null whenever listening starts or resumes: notifications may have been missed before
   */
  onWake: (payload: string | null) => void;
  onError: (error: unknown) => void;
}

/** Listens on its own connection. When that breaks, it reconnects with increasing delays, up to 5 s. */
export function createListener(options: ListenerOptions): Listener {
  let client: Client | null = null;
  let closed = false;
  let retryTimer: NodeJS.Timeout | undefined;
  let delayMs = reconnectMinMs;

  const retry = (error: unknown): void => {
    client = null;
    if (closed) return;
    options.onError(error);
    retryTimer = setTimeout(() => void listen(), delayMs);
    delayMs = Math.min(delayMs * 2, reconnectMaxMs);
  };

  const listen = async (): Promise<void> => {
    const opened = createClient(options.databaseUrl, {
      application_name: options.applicationName,
      connectionTimeoutMillis: reconnectMaxMs,
    });
    client = opened;
    let ended = false;
    const onEnd = (error: unknown): void => {
      if (ended) return;
      ended = true;
      void opened.end().catch(() => {});
      retry(error);
    };
    opened.on('error', onEnd);
    opened.on('end', () => onEnd(new Error('The listening connection ended.')));
    opened.on('notification', ({ payload }) => options.onWake(payload ?? ''));
    try {
      await opened.connect();
      await opened.query(`listen ${wakeChannel}`);
      delayMs = reconnectMinMs;
      options.onWake(null);
    } catch (error) {
      onEnd(error);
    }
  };

  void listen();

  return {
    async close() {
      closed = true;
      clearTimeout(retryTimer);
      await client?.end().catch(() => {});
    },
  };
}

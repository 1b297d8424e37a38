import { Client } from 'pg';
import { keepAliveOptions } from './store.ts';

// One channel for all that a worker waits for. What to do it finds in the tables.
const wakeChannel = 'deedwire_wake';

// However many transactions commit, PostgreSQL is told at most so often.
const notifyIntervalMs = 10;

const reconnectMinMs = 100;
const reconnectMaxMs = 5_000;

export interface Notifier {
  /** Tells the workers, soon, that there is something to do. Call it after the commit: inside, it would serialise commits. */
  notify(): void;
  close(): Promise<void>;
}

export interface NotifierOptions {
  databaseUrl: string;
  applicationName: string;
  /** Told when a notification could not be sent. Nothing is lost: workers also look by themselves. */
  onError: (error: unknown) => void;
}

/** Notifies on a connection of its own, opened at the first call. */
export function createNotifier(options: NotifierOptions): Notifier {
  let client: Client | null = null;
  let wanted = false;
  let running: Promise<void> | null = null;
  let closed = false;

  const connect = async (): Promise<Client> => {
    const opened = new Client({
      connectionString: options.databaseUrl,
      application_name: options.applicationName,
      ...keepAliveOptions,
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
    while (wanted && !closed) {
      wanted = false;
      try {
        await (client ?? (await connect())).query(`notify ${wakeChannel}`);
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
    notify() {
      wanted = true;
      running ??= run();
    },
    async close() {
      // What was asked for is still sent.
      await running;
      closed = true;
      await client?.end();
    },
  };
}

export interface Listener {
  close(): Promise<void>;
}

export interface ListenerOptions {
  /** A direct connection: a transaction pooler forgets who listens. */
  databaseUrl: string;
  applicationName: string;
  /** Called at each notification, and whenever listening starts (again), because some may have been missed. */
  onWake: () => void;
  onError: (error: unknown) => void;
}

/** Listens on a connection of its own, and connects again, with growing pauses, whenever it breaks. */
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
    const opened = new Client({
      connectionString: options.databaseUrl,
      application_name: options.applicationName,
      ...keepAliveOptions,
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
    opened.on('notification', () => options.onWake());
    try {
      await opened.connect();
      await opened.query(`listen ${wakeChannel}`);
      delayMs = reconnectMinMs;
      options.onWake();
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

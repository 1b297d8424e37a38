import { TLSSocket } from 'node:tls';
import {
  Client,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
  type DatabaseError,
  Pool,
  type PoolConfig,
  types,
} from 'pg';
import { ClearTextPasswordError, isExhausted, MissingPasswordError, noteConnectionError } from '../kernel/errors.ts';
import { type ConnectionOptions, connectionOptions, verifiesServer } from './connection-options.ts';
import { parseTimestamp } from './parse-timestamp.ts';
import { formatSettings, type SessionSettings, startupOptions } from './session-settings.ts';

declare module 'pg' {
  interface Client {
    /** The parameters with which pg starts a session. */
    getStartupConf(): Record<string, string>;
  }

  interface Connection {
    /** Reads the messages of the server. */
    attachListeners(stream: ByteStream): void;
  }
}

type Listener = (...values: unknown[]) => void;

interface ByteStream {
  on(event: string, listener: Listener): unknown;
}

/** What a URL does not decide. */
type Own<Config> = Omit<
  Config,
  Exclude<keyof ConnectionOptions, 'application_name'> | 'connectionString' | 'Client' | 'stream' | 'types'
> & {
  /** For a direct connection: settings of the session besides `resultSettings`. They override those of the URL. */
  settings?: SessionSettings;
  onExhausted?: OnExhausted | undefined;
};

/** Called for each statement that fails because the server has no space, no memory, or cannot read or write a file. */
export type OnExhausted = (error: DatabaseError) => void;

/** The parsers of values that are received as text. */
export const ownTypes: CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === types.builtins.TIMESTAMPTZ && format !== 'binary' ? parseTimestamp : types.getTypeParser(type, format),
};

/** Creates a client, which does not connect yet. Every connection of the store is made here or in `createPool`. */
export function createClient(databaseUrl: string, settings: Own<ClientConfig>): Client {
  return new GuardedClient(configOf(databaseUrl, settings));
}

type OwnOfPool = Omit<Own<PoolConfig>, 'onConnect'> & {
  /** Called for each new connection before its first use. */
  onConnect?: (client: ClientBase) => Promise<unknown>;
};

/** Creates a pool, which connects at its first statement. */
export function createPool(databaseUrl: string, settings: OwnOfPool): Pool {
  const config = configOf(databaseUrl, settings);
  let { ssl } = config;
  /** The files of certificates are read for each connection, because a CA is replaced while the pool is open. */
  class ReadingClient extends GuardedClient {
    constructor(own: ClientConfig = {}) {
      try {
        ({ ssl } = connectionOptions(databaseUrl));
      } catch {
        // A file is being replaced. Until it can be read, the earlier certificates count.
      }
      // Not a copy: the pool hides the password from it.
      super(Object.assign(own, { ssl }));
    }
  }
  const pool = new Pool({ ...config, Client: ReadingClient });
  // The pool adds its client to the error of an idle connection. A log that prints the error would have all that the client has.
  pool.on('error', (error) => Reflect.deleteProperty(error, 'client'));
  return pool;
}

function configOf<Config extends { settings?: SessionSettings }>(databaseUrl: string, { settings, ...own }: Config) {
  const connection = connectionOptions(databaseUrl);
  // The last of two equal settings counts.
  const options = [connection.options, settings === undefined ? '' : startupOptions(settings)].join(' ').trim();
  return { ...keepAliveOptions, ...own, ...connection, options, types: ownTypes };
}

/** When the certificate ends that the server has presented on this connection. Null without TLS. */
export function certificateEnd(client: ClientBase): Date | null {
  const stream: unknown = client instanceof Client ? client.connection.stream : null;
  return stream instanceof TLSSocket ? new Date(stream.getPeerCertificate().valid_to) : null;
}

/** For the server to end a connection that has no work left. */
const endTimeoutMs = 2_000;

/**
 * Refuses to send the password in clear text. Unless TLS verifies the server, any machine on the way can ask for it. An error of
 * the connection never ends the process, even while it connects, is idle, or passes from the pool to its user, and neither does what the
 * server sends: the running statement, or the next one, rejects with it.
 */
class GuardedClient extends Client {
  constructor(config: ClientConfig & { onExhausted?: OnExhausted | undefined } = {}) {
    super(config);
    this.on('error', noteConnectionError);
    const { onExhausted } = config;
    this.connection.on('errorMessage', (error: DatabaseError) => {
      if (isExhausted(error)) onExhausted?.(error);
    });
    // For both forms of `connect`.
    const open: (callback: Listener) => void = Reflect.get(Client.prototype, '_connect').bind(this);
    const openNoting = (callback: Listener): void =>
      open((error, ...values) => {
        noteConnectionError(error);
        callback(error, ...values);
      });
    Object.assign(this, { _connect: openNoting });
    const { connection } = this;
    const attach = connection.attachListeners.bind(connection);
    // The parser of pg throws at what it does not expect, such as a method of authentication that it does not support.
    const closing = (listener: Listener) => (bytes: unknown) => {
      try {
        listener(bytes);
      } catch (error) {
        connection.stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    };
    connection.attachListeners = (stream) => attach({ on: (event, listener) => stream.on(event, closing(listener)) });
    // pg calls it before it answers any method of authentication. It would send the hash of the text "null" for MD5.
    const getPassword: (callback: () => void) => void = Reflect.get(Client.prototype, '_getPassword').bind(this);
    const requirePassword = (callback: () => void): void =>
      getPassword(() => {
        if (typeof this.password === 'string') callback();
        else connection.stream.destroy(new MissingPasswordError());
      });
    Object.assign(this, { _getPassword: requirePassword });
    const { ssl = false } = config;
    if (typeof ssl === 'object' && verifiesServer(ssl)) return;
    // pg calls this method whenever the server asks, even after another method of authentication.
    Object.assign(this, {
      _handleAuthCleartextPassword: () => this.connection.stream.destroy(new ClearTextPasswordError()),
    });
  }

  override getStartupConf(): Record<string, string> {
    // Later than `options`, these override PGOPTIONS.
    return { ...super.getStartupConf(), ...formatSettings };
  }

  /** A server that does not respond would never end the connection, so it is cut after a while. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const timer = setTimeout(() => this.connection.stream.destroy(), endTimeoutMs).unref();
    this.once('end', () => clearTimeout(timer));
    return callback === undefined ? super.end() : super.end(callback);
  }
}

// Detects after 20 s that a peer has vanished. The defaults of operating systems take hours.
const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

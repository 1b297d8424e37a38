import { AttemptError } from './attempt-error.ts';
import type { Deadline, AttemptTimeouts } from './attempt-timeouts.ts';
import { Call, type PostRequest } from './call.ts';
import type { CallbackRules } from './callback-rules.ts';
import { ConnectSteps } from './connect-steps.ts';
import { connect } from './connect.ts';
import { type Connection, type ConnectionPool, openConnection } from './connection-pool.ts';
import type { DetailsPolicy } from './details-policy.ts';
import type { EgressProxy } from './proxy-tunnel.ts';
import type { Resolve } from './resolve.ts';
import { vettedAddresses } from './vetted-addresses.ts';

export interface AttemptDependencies {
  readonly rules: CallbackRules;
  readonly resolve: Resolve;
  /** Null for direct connections. */
  readonly proxy: EgressProxy | null;
  readonly pool: ConnectionPool;
  readonly deadlines: AttemptTimeouts;
}

export interface AttemptRequest extends PostRequest {
  /** A checked callback URL, whose path is `path`. */
  readonly url: URL;
  readonly origin: string;
  /** Null if only the status and the headers of the response are of interest. */
  readonly policy: DetailsPolicy | null;
}

/** Exactly one of `response` and `error` is null. `attempt` is null if no request could be built. */
export type OnAttemptEnd = (response: Call | null, error: AttemptError | null, attempt: Attempt | null) => void;

/** Starts an attempt. Calls `onEnd` once, later. `startMs` is the start of the deadline in `performance.now()`. */
export function startAttempt(
  dependencies: AttemptDependencies,
  request: AttemptRequest,
  startMs: number,
  onEnd: OnAttemptEnd,
): void {
  new Attempt(dependencies, request, onEnd).start(startMs);
}

/**
 * Sends one POST request, to the end of the response body, within one deadline. A redirect is a response like any other. The
 * request is sent once, whatever happens to the connection: each recorded attempt is at most one request to the receiver. A
 * connection that closes before that is replaced once.
 * Uses callbacks and creates no promise on an idle connection, the usual case.
 */
export class Attempt {
  readonly #dependencies: AttemptDependencies;
  readonly request: AttemptRequest;
  readonly #onEnd: OnAttemptEnd;
  #deadline: Deadline | null = null;
  /** Null until there is a connection. */
  exchange: Call | null = null;
  /** Null on a connection that was open. */
  steps: ConnectSteps | null = null;
  /** Set while a connection is opened. */
  #connecting: AbortController | null = null;

  constructor(dependencies: AttemptDependencies, request: AttemptRequest, onEnd: OnAttemptEnd) {
    this.#dependencies = dependencies;
    this.request = request;
    this.#onEnd = onEnd;
  }

  start(startMs: number): void {
    const { deadlines, pool } = this.#dependencies;
    this.#deadline = deadlines.start(startMs, () => this.#expire());
    const idle = pool.take(this.request.origin);
    if (idle === null) void this.#sendOnNewConnection();
    else this.#send(idle, startMs);
  }

  #send(connection: Connection, nowMs: number): void {
    this.exchange = new Call(connection, this.request.policy, (exchange) => this.#onExchangeEnd(exchange));
    this.exchange.start(this.request, nowMs, this.#deadline);
  }

  async #sendOnNewConnection(): Promise<void> {
    const { url } = this.request;
    const { rules, resolve, proxy } = this.#dependencies;
    this.#connecting = new AbortController();
    const { signal } = this.#connecting;
    let connection;
    try {
      const vettedAtMs = performance.now();
      const addresses = await vettedAddresses(url, rules, resolve, signal);
      this.steps = new ConnectSteps(url, vettedAtMs);
      const socket = await connect(url, addresses, signal, this.steps, proxy);
      connection = openConnection(url, socket, vettedAtMs, proxy === null ? undefined : this.steps.address);
    } catch (error) {
      this.#end(null, asAttemptError(error));
      return;
    }
    this.#send(connection, performance.now());
  }

  #onExchangeEnd(exchange: Call): void {
    const { error, connection } = exchange;
    if (error === null) this.#dependencies.pool.release(connection);
    // The connection was idle, and closed before the request was written: the receiver does not know of it.
    else if (this.steps === null && error.code === 'CONNECTION_FAILED' && exchange.isUnsent) {
      this.exchange = null;
      void this.#sendOnNewConnection();
      return;
    }
    this.#end(error === null ? exchange : null, error);
  }

  #expire(): void {
    if (this.exchange === null) this.#connecting?.abort();
    else this.exchange.timeOut();
  }

  #end(response: Call | null, error: AttemptError | null): void {
    this.#deadline?.cancel();
    this.#onEnd(response, error, this);
  }
}

/** Any other error means that the request could not be built, for example from a malformed secret or id. */
export function asAttemptError(error: unknown): AttemptError {
  return error instanceof AttemptError
    ? error
    : new AttemptError('PROTOCOL_ERROR', 'The request could not be built. Check the id, the secret and the headers.', {
        attemptCause: 'REQUEST_NOT_SENT',
        cause: error,
      });
}

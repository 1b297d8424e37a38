import type { Socket } from 'node:net';
import { AttemptError } from './attempt-error.ts';
import type { Deadline, AttemptTimeouts } from './attempt-timeouts.ts';
import { Call, type PostRequest } from './call.ts';
import type { CallbackRules } from './callback-rules.ts';
import { ConnectSteps } from './connect-steps.ts';
import { connect } from './connect.ts';
import { type Connection, type ConnectionPool, openConnection } from './connection-pool.ts';
import type { DetailsPolicy } from './details-policy.ts';
import type { HeaderMask } from './header-mask.ts';
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
  /** From DNS to the end of the response body. */
  readonly timeoutMs: number;
  /** Null if the request has no secret header. */
  readonly mask: HeaderMask | null;
}

/**
 * Must not throw. Exactly one of `response` and `error` is null: an `AttemptError`, or else a bug. `attempt` is null if no request could be
 * built.
 */
export type OnAttemptEnd = (response: Call | null, error: unknown, attempt: Attempt | null) => void;

/** Starts an attempt. Calls `onEnd` once. `startMs` is the start of the deadline in `performance.now()`. */
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
 *
 * Each function that a timer, a promise or a later tick calls catches all errors: elsewhere, a bug would end the process.
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
  #ended = false;

  constructor(dependencies: AttemptDependencies, request: AttemptRequest, onEnd: OnAttemptEnd) {
    this.#dependencies = dependencies;
    this.request = request;
    this.#onEnd = onEnd;
  }

  start(startMs: number): void {
    const { deadlines, pool } = this.#dependencies;
    try {
      this.#deadline = deadlines.start(startMs, this.request.timeoutMs, () => this.#expire());
      const idle = pool.take(this.request.origin);
      if (idle === null) void this.#sendOnNewConnection();
      else this.#send(idle, startMs);
    } catch (error) {
      this.#fail(error);
    }
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
    let socket: Socket | null = null;
    try {
      const vettedAtMs = performance.now();
      const addresses = await vettedAddresses(url, rules, resolve, signal);
      this.steps = new ConnectSteps(url, vettedAtMs);
      socket = await connect(url, addresses, signal, this.steps, proxy);
      const connection = openConnection(url, socket, vettedAtMs, proxy === null ? undefined : this.steps.address);
      this.#send(connection, performance.now());
    } catch (error) {
      socket?.destroy();
      this.#fail(error);
    }
  }

  #onExchangeEnd(exchange: Call): void {
    const { error, connection } = exchange;
    if (error !== null) {
      const hasLostConnection = error instanceof AttemptError && error.code === 'CONNECTION_FAILED';
      if (this.steps !== null || !hasLostConnection || !exchange.isUnsent) return this.#fail(error);
      // The connection was idle, and closed before the request was written: the receiver does not know of it.
      this.exchange = null;
      void this.#sendOnNewConnection();
      return;
    }
    try {
      this.#dependencies.pool.release(connection);
      this.#end(exchange, null);
    } catch (problem) {
      this.#fail(problem);
    }
  }

  #expire(): void {
    try {
      if (this.exchange === null) this.#connecting?.abort();
      else this.exchange.timeOut();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.exchange?.connection.socket.destroy();
    this.#end(null, error);
  }

  #end(response: Call | null, error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadline?.cancel();
    this.#onEnd(response, error, this);
  }
}

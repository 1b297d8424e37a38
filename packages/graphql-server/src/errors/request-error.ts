import { type ErrorCode, errorTable } from './error-table.ts';
import type { FoundError } from './found-error.ts';

interface Details {
  /** Public. Defaults to the message of the code. */
  message?: string;
  /** Added to `extensions`, next to `code`. */
  extensions?: Record<string, unknown>;
  /** Of a request that is refused for its cost. The response adds the bucket of the client. */
  cost?: RefusedCost | undefined;
  /** Instead of the status of the code. */
  status?: number | undefined;
  /** Sent with the response. They replace headers of the code that have the same name. */
  headers?: Readonly<Record<string, string>>;
  /** The errors that graphql found in the document. The response has one error for each, instead of `message`. */
  found?: readonly FoundError[];
  /** Logged, never sent. */
  cause?: unknown;
}

/** A part of the value of `extensions.cost` of an error. */
export interface RefusedCost {
  /** The points of the request, as far as they are known. */
  requestedQueryCost: number;
  /** The most points that an operation may cost. */
  limit: number;
}

/** Fails the whole request: the response has no `data`. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  readonly extensions: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
  readonly found: readonly FoundError[];
  readonly cost: RefusedCost | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, details: Details = {}) {
    const { message, extensions = {}, cost, status, headers = {}, found = [], cause } = details;
    super(message ?? errorTable[code].message, { cause });
    this.code = code;
    this.extensions = extensions;
    this.headers = headers;
    this.found = found;
    this.cost = cost;
    this.status = status;
  }
}

/** The client has closed the connection, so its request goes no further. */
export class ClientGoneError extends RequestError {
  constructor() {
    super('SERVICE_UNAVAILABLE');
  }
}

import { type ErrorCode, errorTable } from './error-table.ts';
import type { FoundError } from './found-error.ts';

interface Details {
  /** Public. Defaults to the message of the code. */
  message?: string;
  /** Added to `extensions`, next to `code`. */
  extensions?: Record<string, unknown>;
  /** Sent with the response. They replace headers of the code that have the same name. */
  headers?: Readonly<Record<string, string>>;
  /** The errors that graphql found in the document. The response has one error for each, instead of `message`. */
  found?: readonly FoundError[];
  /** Logged, never sent. */
  cause?: unknown;
}

/** Fails the whole request: the response has no `data`. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  readonly extensions: Record<string, unknown>;
  readonly headers: Readonly<Record<string, string>>;
  readonly found: readonly FoundError[];

  constructor(code: ErrorCode, { message, extensions = {}, headers = {}, found = [], cause }: Details = {}) {
    super(message ?? errorTable[code].message, { cause });
    this.code = code;
    this.extensions = extensions;
    this.headers = headers;
    this.found = found;
  }
}

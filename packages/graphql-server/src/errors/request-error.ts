import type { GraphQLError } from 'graphql';
import { type ErrorCode, errorTable } from './error-table.ts';

interface Details {
  /** Public. Defaults to the message of the code. */
  message?: string;
  /** Added to `extensions`, next to `code`. */
  extensions?: Record<string, unknown>;
  /** The errors that graphql found in the document. The response has one error for each, instead of `message`. */
  found?: readonly GraphQLError[];
  /** Logged, never sent. */
  cause?: unknown;
}

/** Fails the whole request: the response has no `data`. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorCode;
  readonly extensions: Record<string, unknown>;
  readonly found: readonly GraphQLError[];

  constructor(code: ErrorCode, { message, extensions = {}, found = [], cause }: Details = {}) {
    super(message ?? errorTable[code].message, { cause });
    this.code = code;
    this.extensions = extensions;
    this.found = found;
  }
}

import type { GraphQLError } from 'graphql';
import { type ErrorCode, errorTable } from './error-table.ts';

interface Details {
  /** Safe to show. The code's own message when left out. */
  message?: string;
  /** Beside `code`, in `extensions`. */
  extensions?: Record<string, unknown>;
  /** What graphql found in the document: one error for each in the answer, in place of `message`. */
  found?: readonly GraphQLError[];
  /** For the log only. */
  cause?: unknown;
}

/** Ends a request as a whole: the answer has no `data`. */
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

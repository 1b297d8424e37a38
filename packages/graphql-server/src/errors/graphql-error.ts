import type { GraphQLError } from 'graphql';
import { type ErrorCode, errorTable } from './error-table.ts';

/** What a client sees of a GraphQLError that a plugin creates. */
export interface PublicGraphqlError {
  /** The code of the table that decides about the status and the metrics. */
  code: ErrorCode;
  message: string;
  /** As the plugin has chosen them. They replace those of the code. */
  extensions: Record<string, unknown>;
  /** From `extensions.http`, as in Yoga. */
  status: number | undefined;
  headers: Record<string, string>;
}

/**
 * Plugins refuse operations with GraphQLErrors, so these are public, and keep their code. One that the table does not have
 * counts as an error of the client.
 */
export function publicGraphqlError({ message, extensions }: GraphQLError): PublicGraphqlError {
  const { code, http, ...others } = extensions;
  const kept = { message, status: statusIn(http), headers: { ...http?.headers } };
  if (isErrorCode(code)) return { ...kept, code, extensions: others };
  // Our documentation has no page for it.
  const own = typeof code === 'string' ? { ...others, code, documentationUrl: undefined } : others;
  return { ...kept, code: 'BAD_USER_INPUT', extensions: own };
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}

function statusIn(http: { status?: number } | undefined): number | undefined {
  const status = http?.status;
  return status !== undefined && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}

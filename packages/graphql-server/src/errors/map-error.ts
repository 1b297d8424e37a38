import { OperationTooComplexError } from '@deedwire/operation-analysis';
import { GraphQLError } from 'graphql';
import { type ErrorCode, errorTable } from './error-table.ts';
import { RequestError } from './request-error.ts';

/** The public code of each error that the lower layers throw on purpose, by its `code`. Any other error is a bug. */
const publicCodes: ReadonlyMap<unknown, ErrorCode> = new Map([
  ['STORE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['ACCOUNT_AWAY', 'SERVICE_UNAVAILABLE'],
  ['EGRESS_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['BAD_USER_INPUT', 'BAD_USER_INPUT'],
  ['EVENT_MISSING', 'SERVICE_UNAVAILABLE'],
] as const);

function publicCode(error: unknown): ErrorCode {
  return (error instanceof Error && 'code' in error && publicCodes.get(error.code)) || 'INTERNAL_SERVER_ERROR';
}

/** Maps an error that was thrown outside of any field. */
export function mapError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof OperationTooComplexError) {
    const { message, cost } = error;
    return new RequestError('OPERATION_TOO_COMPLEX', { message, cost });
  }
  if (!(error instanceof GraphQLError)) return new RequestError(publicCode(error), { cause: error });
  const { code, ...details } = publicGraphqlError(error);
  return new RequestError(code, details);
}

/** The public form of an error that a field failed with. */
export interface FieldError {
  code: ErrorCode;
  message: string;
  /** Added to `extensions`, next to `code`. */
  extensions?: Record<string, unknown>;
  /** For the log. Undefined when the client caused the error. */
  cause?: unknown;
}

export function mapFieldError(error: GraphQLError): FieldError {
  const { message, path, originalError } = error;
  const isOfPlugin = error.extensions['code'] !== undefined && (originalError ?? error) instanceof GraphQLError;
  if (isOfPlugin) return publicGraphqlError(error);
  if (originalError instanceof RequestError) {
    const { code, extensions } = originalError;
    return { code, message: originalError.message, extensions };
  }
  // graphql itself throws GraphQLErrors, for three reasons. One about a variable has no path yet. One about an argument
  // that is null at run time has nodes of the document. One about a result that does not match its type is our bug and
  // has a path but no nodes.
  const isByGraphql = originalError === undefined || originalError instanceof GraphQLError;
  const isAboutInput = isByGraphql && (!path || (originalError?.nodes ?? []).length > 0);
  const code = isAboutInput ? 'BAD_USER_INPUT' : publicCode(originalError);
  return code === 'BAD_USER_INPUT'
    ? { code, message }
    : { code, message: errorTable[code].message, cause: originalError };
}

/** What a client sees of a GraphQLError that a plugin creates. */
interface PublicGraphqlError {
  /** The code of the table that decides about the status and the metrics. */
  code: ErrorCode;
  message: string;
  /** As the plugin has chosen them, except for the request id and the page of our documentation. */
  extensions: Record<string, unknown>;
  /** From `extensions.http`, as in Yoga. */
  status: number | undefined;
  headers: Record<string, string>;
}

/**
 * Plugins refuse operations with GraphQLErrors, so these are public, and keep their code. One that the table does not have
 * counts as an error of the client.
 */
function publicGraphqlError({ message, extensions }: GraphQLError): PublicGraphqlError {
  const { code, http, requestId: _, documentationUrl: __, ...others } = extensions;
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

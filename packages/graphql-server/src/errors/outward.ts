import { GraphQLError } from 'graphql';
import { type ErrorCode, errorTable } from './error-table.ts';
import { RequestError } from './request-error.ts';

/** What the layers below throw on purpose, by its `code`, and what that is called outside. All else is a bug. */
const outwardCodes: ReadonlyMap<unknown, ErrorCode> = new Map([
  ['STORE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['BAD_USER_INPUT', 'BAD_USER_INPUT'],
] as const);

function outwardCode(error: unknown): ErrorCode {
  return (error instanceof Error && 'code' in error && outwardCodes.get(error.code)) || 'INTERNAL_SERVER_ERROR';
}

/** What was thrown outside of any field. */
export function toRequestError(error: unknown): RequestError {
  return error instanceof RequestError ? error : new RequestError(outwardCode(error), { cause: error });
}

/** An error that a field ran into, as a client may see it. */
export interface FieldError {
  code: ErrorCode;
  message: string;
  /** Undefined when the client is at fault. */
  cause?: unknown;
}

export function toFieldError({ message, path, originalError }: GraphQLError): FieldError {
  // Thrown by graphql itself: about a variable there is no path yet; about an argument that turned out null it points into
  // the document; about a result that does not fit its type, which is our fault, it does neither.
  const isByGraphql = originalError === undefined || originalError instanceof GraphQLError;
  const isAboutInput = isByGraphql && (!path || (originalError?.nodes ?? []).length > 0);
  const code = isAboutInput ? 'BAD_USER_INPUT' : outwardCode(originalError);
  return code === 'BAD_USER_INPUT'
    ? { code, message }
    : { code, message: errorTable[code].message, cause: originalError };
}

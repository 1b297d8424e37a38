import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { Documentation } from '../documentation.ts';
import { type ErrorCode, errorTable, type ResponseMediaType, statusOf } from '../errors/error-table.ts';
import { toFieldError } from '../errors/outward.ts';
import { RequestError } from '../errors/request-error.ts';

/** What is sent back, but for the headers that every answer has. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { data?: ExecutionResult['data']; errors?: GraphQLFormattedError[] };
  /** Null when nothing failed. */
  code: ErrorCode | null;
  /** What lies behind, for the log. Empty when the client is at fault. */
  causes: unknown[];
}

export interface AnswerContext {
  mediaType: ResponseMediaType;
  requestId: string;
  documentation: Pick<Documentation, 'error'>;
}

/** An answer without `data`. */
export function refusal(error: RequestError, context: AnswerContext): Answer {
  const { code, cause } = error;
  const extensions = { ...extensionsOf(code, context), ...error.extensions };
  const errors =
    error.found.length === 0
      ? [{ message: error.message, extensions }]
      : error.found.map((found) => ({ message: shorten(found.message), ...placeOf(found), extensions }));
  return {
    status: statusOf(code, context.mediaType),
    headers: errorTable[code].headers,
    body: { errors },
    code,
    causes: cause === undefined ? [] : [cause],
  };
}

/**
 * The answer to an operation that was run. When a field found the service unavailable then all of it is refused: the client
 * is to send the whole operation again, not to sort out which half it got.
 */
export function answerTo(result: ExecutionResult, context: AnswerContext): Answer {
  if (!result.errors) return { status: 200, headers: {}, body: { data: result.data ?? null }, code: null, causes: [] };

  const failed = result.errors.map((error) => ({ ...toFieldError(error), place: placeOf(error) }));
  const unavailable = failed.find(({ code }) => code === 'SERVICE_UNAVAILABLE');
  if (unavailable) return refusal(new RequestError(unavailable.code, { cause: unavailable.cause }), context);

  const isOurs = failed.some(({ code }) => code === 'INTERNAL_SERVER_ERROR');
  const code = isOurs ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
  const errors = failed.map(({ message, place, ...error }) => ({
    message: shorten(message),
    ...place,
    extensions: extensionsOf(error.code, context),
  }));
  return {
    status: result.data ? 200 : statusOf(code, context.mediaType),
    headers: {},
    body: result.data === undefined ? { errors } : { errors, data: result.data },
    code,
    causes: failed.flatMap(({ cause }) => (cause === undefined ? [] : [cause])),
  };
}

function extensionsOf(code: ErrorCode, { requestId, documentation }: AnswerContext) {
  return { code, requestId, documentationUrl: documentation.error(code) };
}

function placeOf({ locations, path }: GraphQLError): Pick<GraphQLFormattedError, 'locations' | 'path'> {
  return { ...(locations && { locations }), ...(path && { path }) };
}

/** graphql's messages repeat names out of the document, of any length and any number of times. */
function shorten(message: string): string {
  return message.length <= 500 ? message : `${message.slice(0, 500)}…`;
}

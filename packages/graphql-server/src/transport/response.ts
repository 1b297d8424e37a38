import type { RenderRefusal } from '@deedwire/service-runtime';
import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { OperationCost, RequestAccount } from '../cost/request-account.ts';
import type { Documentation } from '../documentation.ts';
import { type ErrorCode, errorTable, type ResponseMediaType, statusOf } from '../errors/error-table.ts';
import { shorten } from '../errors/found-error.ts';
import { mapFieldError } from '../errors/map-error.ts';
import { RequestError } from '../errors/request-error.ts';
import { sendableFields } from './sendable-fields.ts';

/** A response, without the headers that every response has. */
export interface GraphqlResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { data?: ExecutionResult['data']; errors?: GraphQLFormattedError[]; extensions?: Record<string, unknown> };
  /** Null when nothing failed. */
  code: ErrorCode | null;
  /** The internal errors to log. Empty when the client caused the errors. */
  causes: unknown[];
}

export interface ResponseContext {
  mediaType: ResponseMediaType;
  requestId: string;
  documentation: Pick<Documentation, 'error'>;
  /** Undefined until the client is authenticated. */
  account?: Pick<RequestAccount, 'throttleStatus'> | undefined;
}

/** The response to a request that failed as a whole. It has no `data`. */
export function errorResponse(error: RequestError, context: ResponseContext): GraphqlResponse {
  const { code, cause } = error;
  const cost = error.cost && { cost: { ...error.cost, throttleStatus: context.account?.throttleStatus() } };
  const extensions = { ...extensionsOf(code, context), ...error.extensions, ...cost };
  const errors =
    error.found.length === 0
      ? [{ message: error.message, extensions }]
      : error.found.map((found) => ({ ...found, extensions }));
  return {
    status: error.status ?? statusOf(code, context.mediaType),
    headers: { ...errorTable[code].headers, ...sendableFields(Object.entries(error.headers)) },
    body: { errors },
    code,
    causes: cause === undefined ? [] : [cause],
  };
}

/**
 * The response to an operation that was executed, with the extensions that plugins and its resolvers have set. When a field failed because the service is unavailable, the whole
 * response is 503, so that the client retries the operation instead of working with half of its data.
 */
export function resultResponse(
  { execution: result, cost }: { execution: ExecutionResult; cost: OperationCost },
  context: ResponseContext,
  ofResolvers: object = {},
): GraphqlResponse {
  const { cost: _, ...ofPlugins } = result.extensions ?? {};
  const extensions = { ...ofPlugins, ...ofResolvers, cost };
  if (!result.errors)
    return { status: 200, headers: {}, body: { data: result.data ?? null, extensions }, code: null, causes: [] };

  const failed = result.errors.map((error) => ({ ...mapFieldError(error), place: placeOf(error) }));
  const unavailable = failed.find(({ code }) => code === 'SERVICE_UNAVAILABLE');
  if (unavailable) return errorResponse(new RequestError(unavailable.code, { cause: unavailable.cause }), context);

  const code = outcomes.find((outcome) => failed.some((error) => error.code === outcome)) ?? 'BAD_USER_INPUT';
  const errors = failed.map(({ message, place, ...error }) => ({
    message: shorten(message),
    ...place,
    extensions: { ...extensionsOf(error.code, context), ...error.extensions },
  }));
  return {
    status: result.data ? 200 : statusOf(code, context.mediaType),
    headers: {},
    body: result.data === undefined ? { errors, extensions } : { errors, data: result.data, extensions },
    code,
    causes: failed.flatMap(({ cause }) => (cause === undefined ? [] : [cause])),
  };
}

/** The code of a response, the first that one of its fields failed with. */
const outcomes = ['INTERNAL_SERVER_ERROR', 'SEQUENCE_TOO_LARGE', 'CURSOR_EXPIRED'] as const satisfies ErrorCode[];

function extensionsOf(code: ErrorCode, { requestId, documentation }: ResponseContext) {
  return { code, requestId, documentationUrl: documentation.error(code) };
}

function placeOf({ locations, path }: GraphQLError): Pick<GraphQLFormattedError, 'locations' | 'path'> {
  return { ...(locations && { locations }), ...(path && { path }) };
}

/** The response to a request that the HTTP layer refused. It has the format of every other error of the interface. */
export function createRefusalRenderer(documentation: Pick<Documentation, 'error'>): RenderRefusal {
  return ({ code, message }, requestId) => {
    const mediaType = 'application/json';
    const { status, headers, body } = errorResponse(new RequestError(code, { message }), {
      mediaType,
      requestId,
      documentation,
    });
    const contentType = `${mediaType}; charset=utf-8`;
    // A refused request can be one of the portal.
    const policy = { 'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'" };
    return { status, headers: { ...headers, ...policy, 'Content-Type': contentType }, body: JSON.stringify(body) };
  };
}

/** The size of a body if it is larger than the limit, otherwise null. A character has 1 to 3 bytes. */
export function excessBytes(body: string, limitBytes: number): number | null {
  if (body.length * 3 <= limitBytes) return null;
  const bytes = Buffer.byteLength(body);
  return bytes > limitBytes ? bytes : null;
}

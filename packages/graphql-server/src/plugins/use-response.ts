import { type ExecutionResult, GraphQLError } from 'graphql';
import { CredentialsRefusedError } from '../authentication/authenticate-request.ts';
import { rateLimitHeaders } from '../cost/rate-limits.ts';
import { mapError } from '../errors/map-error.ts';
import { ClientGoneError, RequestError } from '../errors/request-error.ts';
import { errorResponse, excessBytes, type GraphqlResponse, resultResponse } from '../transport/response.ts';
import { sendableFields } from '../transport/sendable-fields.ts';
import { present, type Exchange, type RequestPlugin } from './exchange.ts';
import { LightResponse } from './light-fetch.ts';

/**
 * Gives every error its public form, and every response its status and its headers. Limits the size of the response. Comes after
 * the plugins of the app, so that this also holds for what they set.
 */
export function useResponse({ responseBytes }: { responseBytes: number }): RequestPlugin {
  return {
    onResultProcess(payload) {
      const { exchange } = payload.serverContext;
      const process = (result: unknown): Response => respond(resultOf(result, exchange), exchange, responseBytes);
      payload.setResultProcessor(process, exchange.mediaType);
    },
  };
}

/** The response to a request that fails as a whole. */
export function refuse(exchange: Exchange, error: unknown): Response {
  return respond(failureResponse(error, exchange), exchange, Number.POSITIVE_INFINITY);
}

function resultOf(result: unknown, exchange: Exchange): GraphqlResponse {
  try {
    const single = singleResult(result);
    const failure = failureOf(single);
    if (failure !== null) return failureResponse(failure, exchange);
    return resultResponse({ execution: single, cost: present(exchange.cost) }, exchange, exchange.extensions);
  } catch (error) {
    return failureResponse(error, exchange);
  }
}

function failureResponse(error: unknown, exchange: Exchange): GraphqlResponse {
  exchange.isLogged = error instanceof CredentialsRefusedError;
  exchange.isClientGone = error instanceof ClientGoneError;
  const failure = mapError(error);
  const isByClient = failure.code !== 'RATE_LIMITED' && failure.cause === undefined;
  if (isByClient) exchange.account?.deductFailure(exchange.bodyBytes);
  return errorResponse(failure, exchange);
}

/** Sets what the log and the metrics say about the response. */
function respond(given: GraphqlResponse, exchange: Exchange, limitBytes: number): Response {
  let response = given;
  let text = JSON.stringify(response.body);
  const bytes = excessBytes(text, limitBytes);
  if (bytes !== null) {
    response = errorResponse(tooLarge(bytes, limitBytes), exchange);
    text = JSON.stringify(response.body);
  }
  exchange.code = response.code;
  exchange.causes = response.causes;
  const contentType = `${exchange.mediaType}; charset=utf-8`;
  const headers = { ...response.headers, 'Content-Type': contentType, ...headersOf(exchange) };
  return toResponse(new LightResponse(text, { status: response.status, headers }), exchange);
}

/** The headers of the version and of the bucket. Nothing is refunded from now on. */
function headersOf({ version, account }: Exchange): Readonly<Record<string, string>> {
  account?.end();
  return { ...version?.headers, ...(account && rateLimitHeaders(account.status())) };
}

/** A response that a plugin has created. It keeps its status, its headers and its body. */
export async function adopt(given: Response, exchange: Exchange, limitBytes: number): Promise<Response> {
  const text = await readText(given.body, limitBytes);
  const bytes = excessBytes(text, limitBytes);
  if (bytes !== null) return refuse(exchange, tooLarge(bytes, limitBytes));
  exchange.account?.deductFailure(exchange.bodyBytes);
  exchange.code = given.ok ? null : 'BAD_USER_INPUT';
  exchange.causes = [];
  const headers = { ...sendableFields(given.headers), ...headersOf(exchange) };
  return toResponse(new LightResponse(text, { status: given.status, headers }), exchange);
}

/** Reads no more than exceeds the limit: a plugin can pass on what others send. */
async function readText(body: Response['body'] | string, limitBytes: number): Promise<string> {
  if (typeof body === 'string') return body;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > limitBytes) break;
  }
  return Buffer.concat(chunks).toString();
}

function toResponse(response: LightResponse, exchange: Exchange): Response {
  exchange.response = response;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- has what Yoga uses of a response
  return response as unknown as Response;
}

function tooLarge(bytes: number, limit: number): RequestError {
  const [found, allowed] = [bytes, limit].map((number) => number.toLocaleString('en'));
  const message = `The response has ${found} bytes; at most ${allowed} are allowed. Request fewer items or fields.`;
  return new RequestError('OPERATION_TOO_COMPLEX', { message });
}

export function singleResult(result: unknown): ExecutionResult {
  const isResult = typeof result === 'object' && result !== null && !Array.isArray(result);
  if (!isResult || Symbol.asyncIterator in result)
    throw new Error('A plugin returned something else than a single result.');
  return result;
}

/** What was thrown instead of a result. Null if there is a result: the price of what was executed is in it. */
export function failureOf({ data, errors, extensions }: ExecutionResult): unknown {
  if (!errors || data !== undefined || extensions?.['cost'] !== undefined) return null;
  const [error] = errors;
  // Yoga drops an AbortError, and sends the text of what is no error.
  if (!error) return new Error('A plugin threw an AbortError or a TimeoutError.');
  if (!(error instanceof GraphQLError)) return error;
  if (error.originalError) return error.originalError;
  return error.extensions['unexpected'] === true ? new Error(`A plugin threw no error: ${error.message}`) : error;
}

import { type ExecutionResult, GraphQLError } from 'graphql';
import { CredentialsRefusedError } from '../authentication/authenticate-request.ts';
import { rateLimitHeaders } from '../cost/rate-limits.ts';
import { mapError } from '../errors/map-error.ts';
import { ClientGoneError, RequestError } from '../errors/request-error.ts';
import { errorResponse, excessBytes, type GraphqlResponse, resultResponse } from '../transport/response.ts';
import { sendableFields } from '../transport/sendable-fields.ts';
import { LightResponse } from './light-fetch.ts';
import { present, type RequestState, type RequestPlugin } from './request-state.ts';

/**
 * Gives every error its public form, and every response its status and its headers. Limits the size of the response. Comes after
 * the plugins of the app, so that this also holds for what they set.
 */
export function useResponse({ responseBytes }: { responseBytes: number }): RequestPlugin {
  return {
    onResultProcess(payload) {
      const { requestState: state } = payload.serverContext;
      const process = (result: unknown): Response => respond(resultOf(result, state), state, responseBytes);
      payload.setResultProcessor(process, state.mediaType);
    },
  };
}

/** The response to a request that fails as a whole. */
export function refuse(state: RequestState, error: unknown): Response {
  return respond(failureResponse(error, state), state, Number.POSITIVE_INFINITY);
}

function resultOf(result: unknown, state: RequestState): GraphqlResponse {
  try {
    const single = singleResult(result);
    const failure = failureOf(single);
    if (failure !== null) return failureResponse(failure, state);
    state.isClientGone = single.errors?.some((error) => error.originalError instanceof ClientGoneError) ?? false;
    return resultResponse({ execution: single, cost: present(state.cost) }, state, state.extensions);
  } catch (error) {
    return failureResponse(error, state);
  }
}

function failureResponse(error: unknown, state: RequestState): GraphqlResponse {
  state.isLogged = error instanceof CredentialsRefusedError;
  state.isClientGone = error instanceof ClientGoneError;
  const failure = mapError(error);
  const isByClient = failure.code !== 'RATE_LIMITED' && failure.cause === undefined;
  if (isByClient) state.account?.deductFailure(state.bodyBytes);
  return errorResponse(failure, state);
}

/** Sets what the log and the metrics say about the response. */
function respond(given: GraphqlResponse, state: RequestState, limitBytes: number): Response {
  let response = given;
  let text = JSON.stringify(response.body);
  const bytes = excessBytes(text, limitBytes);
  if (bytes !== null) {
    response = errorResponse(tooLarge(bytes, limitBytes), state);
    text = JSON.stringify(response.body);
  }
  state.code = response.code;
  state.causes = response.causes;
  const contentType = `${state.mediaType}; charset=utf-8`;
  const headers = { ...response.headers, 'Content-Type': contentType, ...headersOf(state) };
  return toResponse(new LightResponse(text, { status: response.status, headers }), state);
}

/** The headers of the version and of the bucket. Nothing is refunded from now on. */
export function headersOf({ version, account }: RequestState): Readonly<Record<string, string>> {
  account?.end();
  return { ...version?.headers, ...(account && rateLimitHeaders(account.status())) };
}

/** A response that a plugin has created. It keeps its status, its headers and its body. */
export async function adopt(given: Response, state: RequestState, limitBytes: number): Promise<Response> {
  const text = await readText(given.body, limitBytes);
  const bytes = excessBytes(text, limitBytes);
  if (bytes !== null) return refuse(state, tooLarge(bytes, limitBytes));
  state.account?.deductFailure(state.bodyBytes);
  state.code = given.ok ? null : 'BAD_USER_INPUT';
  state.causes = [];
  const headers = { ...sendableFields(given.headers), ...headersOf(state) };
  return toResponse(new LightResponse(text, { status: given.status, headers }), state);
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

export function toResponse(response: LightResponse, state: RequestState): Response {
  state.response = response;
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

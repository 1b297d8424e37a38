import { type ExecutionResult, GraphQLError } from 'graphql';
import { CredentialsRefusedError } from './authentication/authenticate-request.ts';
import { rateLimitHeaders } from './cost/rate-limits.ts';
import { mapError } from './errors/map-error.ts';
import { ClientGoneError, RequestError } from './errors/request-error.ts';
import { LightResponse } from './plugins/light-fetch.ts';
import { type Outcome, present, type RequestState } from './request-state.ts';
import { errorResponse, excessBytes, type GraphqlResponse, resultResponse } from './transport/response.ts';
import { sendableFields } from './transport/sendable-fields.ts';

/** The response to a request that fails as a whole. The headers of a plugin's error can be none that HTTP allows. */
export function refuse(state: RequestState, error: unknown): LightResponse {
  try {
    return sendFailure(state, error);
  } catch (problem) {
    return sendFailure(state, problem);
  }
}

function sendFailure(state: RequestState, error: unknown): LightResponse {
  const failure = mapError(error);
  const isByClient = failure.code !== 'RATE_LIMITED' && failure.cause === undefined;
  if (isByClient) state.account?.deductFailure(state.bodyBytes);
  const isLogged = error instanceof CredentialsRefusedError;
  return send(state, errorResponse(failure, state), { isLogged, isClientGone: error instanceof ClientGoneError });
}

/** The response with the result of an operation, which has a limited size. */
export function respondWith(state: RequestState, result: ExecutionResult, limitBytes: number): LightResponse {
  const failure = failureOf(result, state);
  if (failure !== null) return refuse(state, failure);
  const isClientGone = result.errors?.some((error) => error.originalError instanceof ClientGoneError) ?? false;
  const given = { execution: result, cost: present(state.cost) };
  const response = send(state, resultResponse(given, state, state.context?.extensions), { isClientGone });
  const bytes = excessBytes(response.body.toString(), limitBytes);
  return bytes === null ? response : send(state, errorResponse(tooLarge(bytes, limitBytes), state));
}

function send(state: RequestState, given: GraphqlResponse, more: Partial<Outcome> = {}): LightResponse {
  const { status, body, code, causes } = given;
  const contentType = `${state.mediaType}; charset=utf-8`;
  const headers = { ...given.headers, 'Content-Type': contentType, ...headersOf(state) };
  return end(state, new LightResponse(JSON.stringify(body), { status, headers }), { code, causes, ...more });
}

/** Ends a request with its response, and what the log and the metrics say about it: by default, that nothing failed. */
export function end(state: RequestState, response: LightResponse, outcome: Partial<Outcome> = {}): LightResponse {
  state.outcome = { code: null, causes: [], ...outcome, response };
  return response;
}

/** The headers of the version and of the bucket. Nothing is refunded from now on. */
export function headersOf({ version, account }: RequestState): Readonly<Record<string, string>> {
  account?.end();
  return { ...version?.headers, ...(account && rateLimitHeaders(account.status())) };
}

/** A response that a plugin has created. It keeps its status, its headers and its body. */
export async function adopt(given: Response, state: RequestState): Promise<LightResponse> {
  const body = await given.text();
  state.account?.deductFailure(state.bodyBytes);
  const headers = { ...sendableFields(given.headers), ...headersOf(state) };
  const response = new LightResponse(body, { status: given.status, headers });
  return end(state, response, { code: given.ok ? null : 'BAD_USER_INPUT' });
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

/** What was thrown instead of a result. Null if there is a result: data, or errors about variables. */
export function failureOf({ data, errors }: ExecutionResult, { charge }: RequestState): unknown {
  if (!errors || data !== undefined || typeof charge?.rejected === 'number') return null;
  const [error] = errors;
  // Yoga drops an AbortError, and sends the text of what is no error.
  if (!error) return new Error('A plugin threw an AbortError or a TimeoutError.');
  if (!(error instanceof GraphQLError)) return error;
  if (error.originalError) return error.originalError;
  return error.extensions['unexpected'] === true ? new Error(`A plugin threw no error: ${error.message}`) : error;
}

import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '@deedwire/auth';
import type { InterfaceName } from '@deedwire/domain';
import { deprecationHeaders, operationCostPoints } from '@deedwire/domain';
import {
  doLater,
  type HandlerContext,
  type HttpResponse,
  logAt,
  type Logger,
  requestPath,
  withChosenFields,
} from '@deedwire/service-runtime';
import type { Registry } from 'prom-client';
import { CredentialsRefusedError, createRequestAuthenticator } from './authentication/authenticate-request.ts';
import type { CostBuckets } from './cost/bucket.ts';
import { createClientSlots } from './cost/client-slots.ts';
import { createClientTurns } from './cost/client-turns.ts';
import { createPricing } from './cost/operation-price.ts';
import { rateLimitHeaders } from './cost/rate-limit-headers.ts';
import { createRefusalPace } from './cost/refusal-pace.ts';
import { openRequestAccount, type RequestAccount } from './cost/request-account.ts';
import type { Documentation } from './documentation.ts';
import { mapError } from './errors/map-error.ts';
import { RequestError } from './errors/request-error.ts';
import type { LoadedPlugins } from './operation/load-plugins.ts';
import type { OperationPauses } from './operation/operation-pauses.ts';
import { createOperationRunner, type OperationLimits } from './operation/operation-runner.ts';
import { warmUp } from './operation/warm-up.ts';
import type { WorkContext } from './operation/work-context.ts';
import { countParsedDocuments, createRequestMetrics } from './request-metrics.ts';
import type { OperationOrigin } from './schema/operation-context.ts';
import { checkHead } from './transport/check-head.ts';
import { parseParameters } from './transport/parameters.ts';
import { readBody } from './transport/read-body.ts';
import { negotiateMediaType } from './transport/response-media-type.ts';
import { errorResponse, type GraphqlResponse, type ResponseContext, resultResponse } from './transport/response.ts';
import { excessBytes, serializeResponse } from './transport/serialize-response.ts';
import { chooseVersion } from './versions/choose-version.ts';
import type { InterfaceVersion } from './versions/serve-contract.ts';

export interface RequestLimits extends OperationLimits {
  bodyBytes: number;
  /** From the request head until the body is complete. */
  bodyMs: number;
  /** The largest price assumes one byte per character, so a response with many long texts in other scripts can exceed this. */
  responseBytes: number;
}

/** These limits are published with the contract, so they are not configurable. Only tests use other values. */
export const requestLimits: RequestLimits = {
  bodyBytes: 100_000,
  bodyMs: 10_000,
  queryTokens: 2000,
  queryDepth: 10,
  queryAliases: 30,
  queryDirectives: 20,
  operationMs: 10_000,
  operationCostPoints,
  requestBodyBytesPerPoint: 500,
  queryBytesPerPoint: 100,
  rejectedQueryBytesPerPoint: 10,
  rejectedQueryMinimumPoints: 40,
  responseBytes: 1_000_000,
};

/** A client that sends new documents occupies at most a fifth of the process with reading them. */
const restAfterReading = 4;

/** Operations that a client sends at the same moment would otherwise occupy the process one after the other. */
const operationsPerClient = 8;

const tooManyOperations = `The operation was not run: ${operationsPerClient} operations of your client run at a time, and the earlier ones take long. Retry after the time in the Retry-After header.`;

/** Refusals for cost. A client that waits for `Retry-After` notices no delay. */
const refusalPace = { atOnce: 20, perSecond: 20, maxDelayMs: 5_000, maxDue: 400 };

/** Refusals of dropped requests that wait at a time. Behind a proxy, each of them occupies a connection. */
const lateRefusalsMax = 500;

export interface GraphqlHandlerOptions {
  interfaceName: InterfaceName;
  /** The path of the interface, for example `/lenders/graphql`. Every other path is 404. */
  path: string;
  /** Oldest first. */
  versions: readonly InterfaceVersion[];
  authenticator: Authenticator;
  /** Each is used for all versions. Null if there are none. */
  plugins: LoadedPlugins | null;
  /** Creates the context of resolvers. Called once per operation. */
  createContext: (request: OperationOrigin) => ContextOfOperation;
  logger: Logger;
  metrics: Registry;
  documentation: Documentation;
  /** Charges each operation to its client. */
  buckets: CostBuckets;
  now: () => Date;
  limits?: RequestLimits;
}

/** What the handler reads of the context of resolvers. */
export interface ContextOfOperation extends WorkContext {
  /** Added to `extensions` of the response. */
  readonly extensions: object;
}

export type GraphqlHandler = (request: IncomingMessage, context: HandlerContext) => Promise<HttpResponse>;

/** Serves one interface. Every request receives a response, whatever it contains and whatever fails. */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { interfaceName, path, createContext, documentation, logger, buckets, now, limits = requestLimits } = options;
  const onParsed = countParsedDocuments(interfaceName, options.metrics);
  const pace = createRefusalPace(refusalPace);
  let lateRefusals = 0;
  const shares = {
    turns: createClientTurns(restAfterReading),
    slots: createClientSlots({
      perClient: operationsPerClient,
      maxWaitMs: limits.operationMs,
      refusal: () => new RequestError('SERVICE_UNAVAILABLE', { message: tooManyOperations }),
    }),
  };
  const versions = options.versions.map((version) => ({
    ...version,
    operations: createOperationRunner({
      schema: version.schema,
      pricing: createPricing(version.schema, { ...limits, costs: version.costs }),
      limits,
      plugins: options.plugins,
      onParsed,
    }),
    headers: {
      'X-Service-Schema-Version': version.version,
      ...(version.deprecation && deprecationHeaders(version.deprecation, documentation)),
    },
  }));
  const [oldest] = versions;
  if (oldest) warmUp(oldest.schema, limits);
  const observe = createRequestMetrics(interfaceName, options.metrics);
  const requestLogger = withChosenFields(logger);
  const authenticator = createRequestAuthenticator(options);
  const unknownPath = new RequestError('NOT_FOUND', {
    message: `This path does not exist. Send requests to ${path}.`,
  });

  /**
   * The order of the steps matters: cheap checks come first, and the body is read only for an authenticated client that is not known
   * to have no points.
   */
  async function respond(
    request: IncomingMessage,
    context: HandlerContext,
    exchange: Exchange,
  ): Promise<GraphqlResponse> {
    if (requestPath(request) !== path) throw unknownPath;
    checkHead(request, limits);
    if (!exchange.isAcceptable) throw new RequestError('NOT_ACCEPTABLE');
    if (!context.ready) throw new RequestError('SERVICE_UNAVAILABLE');

    const authenticated = authenticator.authenticate(request, exchange);
    const { client, keyId } = authenticated instanceof Promise ? await authenticated : authenticated;
    const account = openRequestAccount(buckets, client, limits, { ...shares, isOpen: () => context.isOpen() });
    exchange.clientId = client.clientId;
    exchange.account = account;
    exchange.keyId = keyId;
    if (pace.isFull(client.clientId, performance.now())) {
      // A client that waits for responses never gets here.
      context.drop();
      exchange.isDropped = true;
      throw new RequestError('RATE_LIMITED');
    }
    const tooManyConnections = context.authenticated(client.clientId);
    if (tooManyConnections) throw new RequestError(tooManyConnections.code, tooManyConnections);
    const named = request.headers['x-service-schema-version'];
    const { version, operations, headers } = chooseVersion(versions, named, client.schemaVersion, now());
    exchange.schemaVersion = version;
    exchange.versionHeaders = headers;

    const checked = account.checkPoints();
    if (checked !== undefined) await checked;
    context.acceptBody();
    const body = await readBody(request, limits);
    exchange.bodyBytes = body.bytes;
    const operation = { message: request, parameters: parseParameters(body.text), bodyBytes: body.bytes };
    const { requestId, address } = exchange;
    const operationContext = createContext({
      client,
      requestId,
      address,
      whenClosed: (listener) => context.whenClosed(listener),
    });
    exchange.pauses = operationContext.pauses;
    // A wait is longer than a revoked key may be accepted. First, so that a refused one takes nothing again.
    operationContext.pauses?.add({
      pause() {},
      async resume() {
        await authenticator.authenticate(request, exchange);
      },
    });
    const result = await operations.run(operation, operationContext, account);
    return resultResponse(result, exchange, operationContext.extensions);
  }

  return async function handle(request, context) {
    const startedMs = performance.now();
    const exchange = openExchange(request, context, documentation);
    let isLogged = false;
    let response: GraphqlResponse;
    try {
      response = await respond(request, context, exchange);
    } catch (error) {
      isLogged = error instanceof CredentialsRefusedError;
      const failure = mapError(error);
      const isByClient = failure.code !== 'RATE_LIMITED' && failure.cause === undefined;
      if (isByClient) exchange.account?.deductFailure(exchange.bodyBytes);
      response = errorResponse(failure, exchange);
    }
    const { account } = exchange;
    if (account !== undefined) {
      account.end();
      exchange.rateLimitHeaders = rateLimitHeaders(account.status());
    }
    let serialized = serializeResponse(response, exchange);
    const bytes = excessBytes(serialized, limits.responseBytes);
    if (bytes !== null) {
      response = errorResponse(tooLarge(bytes, limits), exchange);
      serialized = serializeResponse(response, exchange);
    }

    const { requestId, clientId, keyId, address, schemaVersion } = exchange;
    const { code, status } = response;
    if (exchange.isDropped && lateRefusals < lateRefusalsMax) {
      lateRefusals += 1;
      await context.waitWhileOpen(refusalPace.maxDelayMs);
      lateRefusals -= 1;
    } else if (clientId !== undefined && account?.isRefused()) {
      const delayMs = pace.next(clientId, performance.now());
      if (delayMs > 0) await context.waitWhileOpen(delayMs);
    }
    const waitedMs = exchange.pauses?.waitedMs ?? 0;
    const durationMs = Math.round((performance.now() - startedMs - waitedMs) * 1000) / 1000;
    const { causes } = response;
    const afterwards = (): void => {
      const level = code === 'INTERNAL_SERVER_ERROR' ? 'error' : 'warn';
      for (const err of causes) logger[level]({ requestId, clientId, code, err }, 'request failed');
      const endedMs = Date.now();
      const hasLine = !isLogged && !exchange.isDropped;
      const clientRequestId = hasLine ? readClientRequestId(request) : undefined;
      const line = { requestId, clientRequestId, clientId, keyId, address, schemaVersion, status, code, durationMs };
      const waited = waitedMs > 0 ? { waitedMs: Math.round(waitedMs) } : {};
      doLater(() => {
        observe(line);
        if (hasLine) logAt(endedMs, () => requestLogger.info({ ...line, ...waited }, 'request'));
      });
    };
    return { ...serialized, afterwards };
  };
}

function tooLarge(bytes: number, { responseBytes }: RequestLimits): RequestError {
  const [found, allowed] = [bytes, responseBytes].map((number) => number.toLocaleString('en'));
  const message = `The response has ${found} bytes; at most ${allowed} are allowed. Request fewer items or fields.`;
  return new RequestError('OPERATION_TOO_COMPLEX', { message });
}

/** The state of a request. The steps of `respond` fill it in. */
interface Exchange extends ResponseContext {
  isAcceptable: boolean;
  /** The address of the client. */
  address: string;
  clientId: string | undefined;
  keyId: string | undefined;
  /** The client has so many refusals that this request was not looked at. */
  isDropped: boolean;
  account: RequestAccount | undefined;
  /** 0 if the body was not read. */
  bodyBytes: number;
  /** Of the operation, as soon as it has a context. */
  pauses: OperationPauses | undefined;
  schemaVersion: string | undefined;
  versionHeaders: Readonly<Record<string, string>>;
  rateLimitHeaders: Readonly<Record<string, string>>;
}

function openExchange(
  request: IncomingMessage,
  { requestId, address }: HandlerContext,
  documentation: Documentation,
): Exchange {
  const mediaType = negotiateMediaType(request.headers.accept);
  return {
    requestId,
    documentation,
    mediaType: mediaType ?? 'application/json',
    isAcceptable: mediaType !== null,
    address,
    clientId: undefined,
    keyId: undefined,
    isDropped: false,
    account: undefined,
    bodyBytes: 0,
    pauses: undefined,
    schemaVersion: undefined,
    versionHeaders: {},
    rateLimitHeaders: {},
  };
}

/** The client's own request id is only logged, because ours must be unique. */
function readClientRequestId({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-request-id'];
  return typeof value === 'string' && /^[!-~]{1,128}$/.test(value) ? value : undefined;
}

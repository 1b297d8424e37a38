import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '@deedwire/auth';
import { deprecationHeaders, type InterfaceName, requestHeaders } from '@deedwire/domain';
import { createPricing } from '@deedwire/operation-analysis';
import { createAlarms, type HandlerContext, type HttpResponse, type Logger } from '@deedwire/service-runtime';
import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Registry } from 'prom-client';
import { createRequestAuthenticator } from './authentication/authenticate-request.ts';
import type { CostBuckets } from './cost/bucket.ts';
import { createClientSlots, createClientTurns } from './cost/client-slots.ts';
import { createRefusalPace } from './cost/refusal-pace.ts';
import type { SharedByClients } from './cost/request-account.ts';
import type { Documentation } from './documentation.ts';
import { RequestError } from './errors/request-error.ts';
import type { Graphiql } from './graphiql/graphiql.ts';
import { createDocuments } from './operation/documents.ts';
import { guardPlugin, keepContext } from './plugins/guard-plugin.ts';
import type { InterfacePlugin } from './plugins/interface-plugin.ts';
import { asRequest, lightFetch, noContext, LightRequest, LightResponse } from './plugins/light-fetch.ts';
import { sendProbe } from './plugins/probe.ts';
import {
  type ContextOfOperation,
  RequestState,
  present,
  type RequestContext,
  type RequestPlugin,
  type ServedVersion,
} from './plugins/request-state.ts';
import { useBody } from './plugins/use-body.ts';
import { authenticateByKeyOrSession, useClient } from './plugins/use-client.ts';
import { useCost } from './plugins/use-cost.ts';
import { useDocuments } from './plugins/use-documents.ts';
import { useExecution } from './plugins/use-execution.ts';
import { useRequestChecks } from './plugins/use-request-checks.ts';
import { useRequestLog } from './plugins/use-request-log.ts';
import { useResponse } from './plugins/use-response.ts';
import { useVersion } from './plugins/use-version.ts';
import { withoutDefaults } from './plugins/without-defaults.ts';
import type { Portal } from './portal/portal.ts';
import { useSessionRequests } from './portal/session-requests.ts';
import { type RequestLimits, requestLimits } from './request-limits.ts';
import { createParsedDocuments, createRequestMetrics } from './request-metrics.ts';
import type { OperationOrigin } from './schema/operation-context.ts';
import type { UseCounter } from './use/use-counter.ts';
import { createUsedCoordinates } from './use/used-coordinates.ts';
import type { InterfaceVersion } from './versions/serve-contract.ts';

/** Caps reading new documents at 20 % of the CPU time for each client. */
const restAfterReading = 4;

/** The limit of concurrent operations of a client, so that a burst does not delay those of others. */
const operationsPerClient = 8;

const tooManyOperations = `The operation was not run: ${operationsPerClient} operations of your client run at a time, and the earlier ones take long. Retry after the time in the Retry-After header.`;

/** Of responses with 429. A client that waits for `Retry-After` notices no delay. */
const refusalPace = { atOnce: 20, perSecond: 20, maxDelayMs: 5_000, maxDue: 400 };

export interface GraphqlHandlerOptions {
  interfaceName: InterfaceName;
  /** The path of the interface, for example `/lenders/graphql`. Every other path is 404. */
  path: string;
  /** Oldest first. */
  versions: readonly InterfaceVersion[];
  authenticator: Authenticator;
  /** Of the app. Called for each version, because plugins keep what they find in the schema. */
  plugins: () => readonly InterfacePlugin[];
  /** Creates the context of resolvers. Called once per operation. */
  createContext: (request: OperationOrigin) => ContextOfOperation;
  logger: Logger;
  metrics: Registry;
  documentation: Documentation;
  /** Charges each operation to its client. */
  buckets: CostBuckets;
  /** Called for each request whose version is served, and for the coordinates that its operation uses. */
  countUse?: UseCounter['count'];
  now: () => Date;
  limits?: RequestLimits;
  /** Undefined outside of development. */
  graphiql?: Graphiql | undefined;
  /** Null or undefined: its paths are 404. */
  portal?: Portal | null | undefined;
}

export type GraphqlHandler = (request: IncomingMessage, context: HandlerContext) => Promise<HttpResponse>;

/** For each Yoga: what our plugins do. */
const withoutOptions = {
  fetchAPI: lightFetch,
  graphiql: false,
  healthCheckEndpoint: ' ', // No URL ends like this.
  parserAndValidationCache: false, // useDocuments: Yoga's counts documents, not their bytes
  maskedErrors: false, // useResponse
  maxRequestBodySize: false, // useBody
  multipart: false,
  batching: false,
  cors: false,
  landingPage: false,
  logging: false, // useRequestLog
} as const;

/**
 * Serves one interface with Yoga. What the interface promises is a list of plugins in the order of a request.
 *
 * @throws {PluginRefusedError} if a plugin of the app replaces a part of the contract
 */
export async function createGraphqlHandler(options: GraphqlHandlerOptions): Promise<GraphqlHandler> {
  const { interfaceName, path, createContext, documentation, logger, metrics, buckets, now, graphiql, portal } =
    options;
  const { limits = requestLimits, countUse = () => {} } = options;
  const authenticator = createRequestAuthenticator(options);
  const pace = createRefusalPace(refusalPace);
  const shared: SharedByClients = {
    buckets,
    limits,
    turns: createClientTurns(restAfterReading),
    slots: createClientSlots({
      perClient: operationsPerClient,
      wait: {
        maxMs: limits.operationMs,
        refusal: () => new RequestError('SERVICE_UNAVAILABLE', { message: tooManyOperations }),
      },
    }),
  };
  const parsedDocuments = createParsedDocuments(metrics);
  const keepsContext = keepContext(logger);

  function lastReleased(before: number): GraphQLSchema | null {
    return options.versions.slice(0, before).findLast(({ status }) => status !== 'preview')?.schema ?? null;
  }

  /** Each version has a Yoga, so that plugins see one schema. */
  function serveVersion(version: InterfaceVersion, position: number): ServedVersion {
    const { schema } = version;
    const ofApp = options
      .plugins()
      .map((plugin, index) => guardPlugin(plugin, `plugins[${index}]`, limits.operationMs));
    const plugins: RequestPlugin[] = [
      useBody(limits),
      useDocuments(),
      useExecution(schema, countUse),
      ...(ofApp.length > 0 ? [keepsContext, ...ofApp] : []),
      useCost(limits),
      useResponse(limits),
    ];
    return {
      ...version,
      headers: {
        [requestHeaders.schemaVersion]: version.version,
        ...(version.deprecation && deprecationHeaders(version.deprecation, documentation.deprecation)),
      },
      documents: createDocuments(schema, limits, (isValid) =>
        parsedDocuments.inc({ interface: interfaceName, result: isValid ? 'valid' : 'rejected' }),
      ),
      pricing: createPricing(schema, { ...limits, costs: version.costs }),
      usedCoordinates: createUsedCoordinates(schema, version.status === 'preview' ? lastReleased(position) : null),
      handle: createYoga<RequestContext>({
        ...withoutOptions,
        schema,
        plugins: [withoutDefaults(plugins, false), ...plugins],
        context({ requestState: state }) {
          const { requestId, address, http, keyId, session } = state;
          const client = present(state.client);
          const whenClosed: OperationOrigin['whenClosed'] = (listener) => http.whenClosed(listener);
          const context = createContext({ client, keyId, session, requestId, address, whenClosed });
          // The key may be revoked during a wait. First, so that an operation whose key is refused acquires nothing again.
          context.pauses?.add({
            pause() {},
            async resume() {
              await authenticateByKeyOrSession(authenticator, state);
            },
          });
          state.pauses = context.pauses;
          state.extensions = context.extensions;
          return context;
        },
      }).handleRequest,
    };
  }

  const versions = options.versions.map(serveVersion);
  const plugins: RequestPlugin[] = [
    ...(graphiql ? [graphiql.plugin] : []),
    ...(portal ? [portal.serve(authenticator)] : []),
    useRequestChecks({ path, ...limits }),
    useClient({ authenticator, pace, shared }),
    ...(portal ? [useSessionRequests()] : []),
    useVersion({ versions, now, countUse, ...limits }),
    useRequestLog({
      logger,
      raiseAlarm: createAlarms(metrics, logger),
      observe: createRequestMetrics(interfaceName, metrics),
      pace,
      ...refusalPace,
    }),
  ];
  const yoga = createYoga<RequestContext>({
    ...withoutOptions,
    graphqlEndpoint: path,
    plugins: [withoutDefaults(plugins, graphiql !== undefined), ...plugins],
    graphiql: graphiql?.graphiql ?? false,
    renderGraphiQL: graphiql?.renderGraphiQL,
  });

  async function respond(state: RequestState): Promise<HttpResponse> {
    const response: unknown = await yoga.handleRequest(asRequest(new LightRequest(state)), noContext);
    if (!(response instanceof LightResponse)) throw new Error('A plugin returned no response.');
    const { status, fields: headers, body } = response;
    return { status, headers, body, ...(state.afterwards && { afterwards: state.afterwards }) };
  }

  for (const version of versions) await sendProbe(respond, version, { path, interfaceName });
  parsedDocuments.reset();
  return (message, http) => respond(new RequestState(message, http, documentation));
}

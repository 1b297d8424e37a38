import type { IncomingMessage } from 'node:http';
import type { Authenticator } from '@deedwire/auth';
import { apiKeyHeader, deprecationHeaders, type InterfaceName, requestHeaders, type Service } from '@deedwire/core';
import { createPricing } from '@deedwire/operation-analysis';
import { createAlarms, type HandlerContext, type HttpResponse, type Logger } from '@deedwire/service-runtime';
import type { GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import type { Registry } from 'prom-client';
import { authenticate, createClientStep } from './authentication/accept-client.ts';
import { createRequestAuthenticator } from './authentication/authenticate-request.ts';
import { createKeyUse, type KeyUse } from './authentication/key-use.ts';
import type { CostBuckets } from './cost/bucket.ts';
import { createClientSlots, createClientTurns } from './cost/client-slots.ts';
import { createRefusalPace } from './cost/refusal-pace.ts';
import type { SharedByClients } from './cost/request-account.ts';
import type { Documentation } from './documentation.ts';
import { RequestError } from './errors/request-error.ts';
import type { Graphiql } from './graphiql/graphiql.ts';
import { createDocuments } from './operation/documents.ts';
import { createNeededAbilities } from './operation/needed-abilities.ts';
import type { ContextOfOperation } from './operation/operation-pauses.ts';
import type { InterfacePlugin } from './plugins/interface-plugin.ts';
import { asRequest, lightFetch, LightRequest, noContext } from './plugins/light-fetch.ts';
import type { RequestContext, RequestPlugin } from './plugins/request-plugin.ts';
import { useBody } from './plugins/use-body.ts';
import { useCharge } from './plugins/use-charge.ts';
import { useCost } from './plugins/use-cost.ts';
import { useDocuments } from './plugins/use-documents.ts';
import { useExecution } from './plugins/use-execution.ts';
import { useResponse } from './plugins/use-response.ts';
import { withoutDefaults } from './plugins/without-defaults.ts';
import type { Portal } from './portal/portal.ts';
import { type RequestLimits, requestLimits } from './request-limits.ts';
import { createRequestLog } from './request-log.ts';
import { createParsedDocuments, createRequestMetrics } from './request-metrics.ts';
import { present, RequestState, type ServedVersion } from './request-state.ts';
import { adopt, refuse } from './respond.ts';
import type { OperationOrigin } from './schema/operation-context.ts';
import { createRequestCheck } from './transport/check-request.ts';
import type { UseCounter } from './use/use-counter.ts';
import { createUsedCoordinates } from './use/used-coordinates.ts';
import { createVersionStep } from './versions/choose-version.ts';
import type { InterfaceVersion } from './versions/serve-contract.ts';

/** Caps reading new documents at 20 % of the CPU time for each client. */
const restAfterReading = 4;

/** The limit of concurrent operations of a client, so that a burst does not delay those of others. */
const operationsPerClient = 8;

const tooManyOperations = `The operation was not run: ${operationsPerClient} operations of your client run at a time, and the earlier ones take long. Retry after the time in the Retry-After header.`;

/** Of responses with 429. A client that waits for `Retry-After` notices no delay. */
const refusalPace = { atOnce: 20, perSecond: 20, maxDelayMs: 5_000, maxDue: 400 };

export interface GraphqlHandlerOptions {
  service: Service;
  interfaceName: InterfaceName;
  /** The path of the interface, for example `/customer/graphql`. Every other path is 404. */
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
  /** Called for the requests of a key, at most once a minute. Must not throw. */
  recordKeyUse?: (use: KeyUse) => void;
  now: () => Date;
  limits?: RequestLimits;
  /** Undefined outside of development. */
  graphiql?: Graphiql | undefined;
  /** Null or undefined: its paths are 404. */
  portal?: Portal | null | undefined;
}

export type GraphqlHandler = (request: IncomingMessage, context: HandlerContext) => Promise<HttpResponse>;

/** What our steps and plugins do. */
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
  logging: false, // createRequestLog
} as const;

/** Serves one interface: the steps of a request in their order. The last one is the Yoga of its version, a list of plugins. */
export function createGraphqlHandler(options: GraphqlHandlerOptions): GraphqlHandler {
  const { service, interfaceName, path, createContext, documentation, logger, metrics, buckets, now, graphiql } =
    options;
  const { limits = requestLimits, countUse = () => {}, recordKeyUse = () => {} } = options;
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
  const { schemaVersion: versionHeader } = requestHeaders(service);
  const secretHeaders = new Set([apiKeyHeader(service), 'cookie']);

  function lastReleased(before: number): GraphQLSchema | null {
    return options.versions.slice(0, before).findLast(({ status }) => status !== 'preview')?.schema ?? null;
  }

  /** Each version has a Yoga, so that plugins see one schema. */
  function serveVersion(version: InterfaceVersion, position: number): ServedVersion {
    const { schema } = version;
    const plugins: RequestPlugin[] = [
      useBody(limits),
      useDocuments(),
      useExecution(schema, countUse),
      useCharge(limits),
      ...options.plugins(),
      useCost(limits),
      useResponse(limits),
    ];
    const yoga = createYoga<RequestContext>({
      ...withoutOptions,
      schema,
      graphqlEndpoint: path,
      plugins: [withoutDefaults(plugins), ...plugins],
      context({ requestState: state }) {
        const { requestId, address, http } = state;
        const { client, keyId, abilities, session } = present(state.caller);
        const whenClosed: OperationOrigin['whenClosed'] = (listener) => http.whenClosed(listener);
        const context = createContext({ client, keyId, abilities, session, requestId, address, whenClosed });
        // The key may be revoked during a wait. First, so that an operation whose key is refused acquires nothing again.
        context.pauses?.add({
          pause() {},
          async resume() {
            await authenticate(authenticator, state);
          },
        });
        return (state.context = context);
      },
    });

    async function respond(state: RequestState): Promise<void> {
      try {
        const response = await yoga.handleRequest(asRequest(new LightRequest(state, secretHeaders)), noContext);
        if (Object.is(response, state.outcome?.response)) return;
        await adopt(response, state);
      } finally {
        // A plugin can end a request before its document is read, or after its operation was charged.
        state.reading?.end(0);
        state.charge?.end(state.charge.rejected ?? state.charge.points.charged);
      }
    }

    return {
      ...version,
      headers: {
        [versionHeader]: version.version,
        ...(version.deprecation && deprecationHeaders(version.deprecation, documentation.deprecation)),
      },
      documents: createDocuments(schema, limits, (isValid) =>
        parsedDocuments.inc({ interface: interfaceName, result: isValid ? 'valid' : 'rejected' }),
      ),
      pricing: createPricing(schema, { ...limits, costs: version.costs }),
      neededAbilities: createNeededAbilities(schema, version.abilities),
      usedCoordinates: createUsedCoordinates(schema, version.status === 'preview' ? lastReleased(position) : null),
      respond,
    };
  }

  const portal = options.portal?.serve(authenticator);
  const checkRequest = createRequestCheck({ path, ...limits });
  const acceptClient = createClientStep({ authenticator, pace, shared });
  const chooseVersion = createVersionStep({
    versions: options.versions.map(serveVersion),
    header: versionHeader,
    now,
    countUse,
  });
  const noteKeyUse = createKeyUse({ recordUse: recordKeyUse, now });
  const log = createRequestLog({
    logger,
    raiseAlarm: createAlarms(metrics, logger),
    observe: createRequestMetrics(interfaceName, metrics),
    pace,
    ...refusalPace,
  });

  /** Ends the request. */
  async function serve(state: RequestState): Promise<void> {
    try {
      const ofPortal = portal?.respond(state);
      if (ofPortal) await ofPortal;
      if (state.outcome) return;
      checkRequest(state);
      const accepted = acceptClient(state);
      if (accepted) await accepted;
      if (state.portal?.respond) await state.portal.respond(state);
      else await chooseVersion(state).respond(state);
    } catch (error) {
      refuse(state, error);
    }
  }

  return async (message, http) => {
    const page = graphiql && (await graphiql(message));
    if (page) return page;
    const state = new RequestState(message, http, documentation);
    await serve(state);
    noteKeyUse(state);
    const { status, fields: headers, body } = present(state.outcome).response;
    const logging = log(state);
    const afterwards = logging instanceof Promise ? await logging : logging;
    return { status, headers: portal ? portal.protect(message, headers) : headers, body, afterwards };
  };
}

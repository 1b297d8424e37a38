import { createAuthenticator, generateApiKey, type StoredApiKey } from '@deedwire/auth';
import { usualAbilities } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import {
  type ClientServerConfig,
  createLogger,
  doWaitingWork,
  type HttpLimits,
  type Logger,
  noAddresses,
  startService,
} from '@deedwire/service-runtime';
import { buildSchema, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { Registry } from 'prom-client';
import type { CostBuckets } from '../src/cost/bucket.ts';
import { type CostBucketsOptions, createCostBuckets } from '../src/cost/cost-buckets.ts';
import { documentationAt } from '../src/documentation.ts';
import { createGraphqlHandler } from '../src/graphql-handler.ts';
import type { InterfacePlugin } from '../src/plugins/interface-plugin.ts';
import { type RequestLimits, requestLimits } from '../src/request-limits.ts';
import { createRefusalRenderer } from '../src/transport/response.ts';
import { type Contract, serveContract } from '../src/versions/serve-contract.ts';

const sdl = /* GraphQL */ `
  type Query {
    hello(name: String = "world", times: Int! = 1): String
    required: String!
    fail(how: String!): String
    slow: String
    count: Int
    again: Query
    secret: String
  }
  type Mutation {
    first(input: FirstInput!): String
    second: String
  }
  input FirstInput {
    name: String!
  }
`;

/** One version in each stage of the lifecycle. */
const contract: Contract = {
  versions: [
    { version: '2024-01-01', status: 'retired', deprecatedOn: '2024-06-01', sunsetOn: '2025-06-01' },
    { version: '2025-01-01', status: 'deprecated', deprecatedOn: '2026-03-01', sunsetOn: '2027-03-01' },
    { version: '2026-01-01', status: 'current', deprecatedOn: null, sunsetOn: null },
    { version: '2027-01-01', status: 'preview', deprecatedOn: null, sunsetOn: null },
  ],
  sdl: () => sdl,
  costs: () => ({ weights: {}, listSizes: {}, pageSizeMaximum: 100 }),
  abilities: () => ({
    ...Object.fromEntries(
      ['hello', 'required', 'fail', 'slow', 'count', 'again'].map((field) => [`Query.${field}`, ['READ']]),
    ),
    'Query.secret': ['READ_PAYLOAD'],
    'Mutation.first': ['WRITE'],
    'Mutation.second': ['OPERATE', 'CONFIGURE'],
  }),
};

class TypedError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const failures: Record<string, () => Error> = {
  store: () => new TypedError('STORE_UNAVAILABLE', 'connect ECONNREFUSED 10.0.0.7:5432'),
  input: () => new TypedError('BAD_USER_INPUT', '"first" must be from 1 to 100.'),
  bug: () => new Error('select secret_column from internal_table'),
  odd: () => new TypedError('constructor', 'secret'),
};
const fail = (how: string) => {
  throw failures[how]?.() ?? new Error(how);
};

const resolvers: Record<string, Record<string, GraphQLFieldResolver<unknown, { clientId: string }>>> = {
  Query: {
    hello: (_, { name, times }) => `hello ${name}`.repeat(Number(times)),
    required: () => fail('bug'),
    fail: (_, { how }) => fail(String(how)),
    slow: () => new Promise(() => {}),
    count: () => 'not a number',
    again: () => ({}),
    secret: () => 'secret',
  },
  Mutation: { first: (_, { input }, { clientId }) => `${clientId} ${input.name}`, second: () => 'second' },
};

function makeSchema(): GraphQLSchema {
  const schema = buildSchema(sdl);
  for (const [typeName, fields] of Object.entries(resolvers)) {
    const type = schema.getType(typeName);
    if (!type || !('getFields' in type)) continue;
    for (const [name, field] of Object.entries(type.getFields())) if ('resolve' in field) field.resolve = fields[name];
  }
  return schema;
}

export const key = generateApiKey(testService, 'supplier');
export const otherInterfaceKey = generateApiKey(testService, 'customer').apiKey;
export const stored: StoredApiKey = {
  keyId: key.keyId,
  keyHash: key.keyHash,
  expiresAt: null,
  revokedAt: null,
  clientId: 'client-1',
  accountId: '2',
  organizationId: 'org-1',
  interfaceName: 'supplier',
  schemaVersion: '2026-01-01',
  costLimit: { maximum: 2_000, restoreRate: 200 },
  abilities: usualAbilities,
  addresses: null,
};

export const credentials = {
  'X-Service-Client-Id': 'client-1',
  'X-Service-API-Key': key.apiKey,
  'X-Service-Organization-Id': 'org-1',
};

/** Of a request with a body. */
export const jsonHeaders = { 'Content-Type': 'application/json', ...credentials };

const findStored = async (_keyId: string): Promise<StoredApiKey | null> => stored;

export interface SampleServer {
  port: number;
  url: string;
  metrics: Registry;
  /** The parsed log lines. */
  readonly logged: Record<string, unknown>[];
  /** Replaces the store's lookup of API keys. */
  findKeysWith(find: (keyId: string) => Promise<StoredApiKey | null>): void;
  setReady(ready: boolean): void;
  /** Sets the server's clock. It starts at noon on 2026-05-01. */
  setTime(now: Date): void;
  close(): Promise<void>;
}

export interface SampleServerOptions {
  limits?: Partial<RequestLimits>;
  httpLimits?: Partial<HttpLimits>;
  config?: Partial<ClientServerConfig>;
  /** Instead of one that adds its lines to `logged`. */
  logger?: Logger;
  /** By default, nothing empties the bucket of the client. */
  buckets?: CostBuckets;
  /** Default none. */
  plugins?: () => readonly InterfacePlugin[];
}

const endless: CostBucketsOptions['settle'] = async (_, { needed, spare }) => ({
  granted: needed + spare,
  points: 1_500,
});

/** Serves the whole handler on a real socket, with a sample schema and an API key in memory. */
export async function startSampleServer(options: SampleServerOptions = {}): Promise<SampleServer> {
  const logged: Record<string, unknown>[] = [];
  const metrics = new Registry();
  let find = findStored;
  let ready = true;
  let now = new Date('2026-05-01T12:00:00Z');
  const logger =
    options.logger ??
    createLogger(
      { name: 'test', level: 'info', service: testService },
      { write: (line) => logged.push(JSON.parse(line)) },
    );
  const documentation = documentationAt('https://docs.example');
  const handle = createGraphqlHandler({
    service: testService,
    interfaceName: 'supplier',
    path: '/supplier/graphql',
    versions: serveContract(
      contract,
      new Map(['2025-01-01', '2026-01-01', '2027-01-01'].map((date) => [date, makeSchema()])),
    ).versions,
    authenticator: createAuthenticator({
      service: testService,
      interfaceName: 'supplier',
      findApiKey: async (keyId) => {
        const found = await find(keyId);
        return found?.keyId === keyId ? found : null;
      },
      cacheMs: 0,
    }),
    plugins: options.plugins ?? (() => []),
    createContext: ({ client }) => ({ clientId: client.clientId, extensions: {} }),
    buckets: options.buckets ?? createCostBuckets({ settle: endless }),
    logger,
    metrics,
    documentation,
    now: () => now,
    limits: { ...requestLimits, ...options.limits },
  });
  const service = await startService({
    app: 'sample',
    servesAdmin: true,
    version: '0.0.0',
    config: {
      ADMIN_PORT: 0,
      ADMIN_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      NODE_ENV: 'test',
      DEEDWIRE_COMMIT: 'unknown',
    },
    logger,
    metrics,
    clients: {
      config: {
        PORT: 0,
        HOST: '127.0.0.1',
        MAX_CONNECTIONS: 1000,
        MAX_CONNECTIONS_PER_ADDRESS: 1000,
        MAX_CONNECTIONS_PER_CLIENT: 200,
        KEEP_ALIVE_TIMEOUT_MS: 65_000,
        TRUSTED_PROXIES: noAddresses,
        ...options.config,
      },
      handle: (request, context) => handle(request, { ...context, ready }),
      renderRefusal: createRefusalRenderer(documentation),
      limits: options.httpLimits ?? {},
    },
    readiness: async () => [],
    close: async () => {},
  });
  return {
    port: service.port,
    url: `${service.url}/supplier/graphql`,
    metrics,
    get logged() {
      doWaitingWork();
      return logged;
    },
    findKeysWith: (next) => (find = next),
    setReady: (next) => (ready = next),
    setTime: (next) => (now = next),
    close: () => service.stop(),
  };
}

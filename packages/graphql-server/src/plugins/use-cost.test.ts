import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthenticatedClient } from '@deedwire/auth';
import type { Ability } from '@deedwire/core';
import type { HandlerContext } from '@deedwire/service-runtime';
import { buildSchema, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { customerSdl } from '../../test/support/customer-sdl.ts';
import type { Charge, CostBuckets } from '../cost/bucket.ts';
import type { EndTurn } from '../cost/client-slots.ts';
import { type OperationCost, RequestAccount } from '../cost/request-account.ts';
import { RequestError } from '../errors/request-error.ts';
import { createDocuments } from '../operation/documents.ts';
import { OperationPauses } from '../operation/operation-pauses.ts';
import { requestLimits } from '../request-limits.ts';
import { RequestState, type ServedVersion } from '../request-state.ts';
import { asRequest, lightFetch, LightRequest, noContext, stateOf } from './light-fetch.ts';
import type { RequestContext, RequestPlugin } from './request-plugin.ts';
import { useCharge } from './use-charge.ts';
import { useCost } from './use-cost.ts';
import { useDocuments } from './use-documents.ts';
import { useExecution } from './use-execution.ts';
import { useResponse } from './use-response.ts';
import { withoutDefaults } from './without-defaults.ts';

const throttleStatus = { maximumAvailable: 2_000, currentlyAvailable: 2_000, restoreRate: 200 };

let serve: ReturnType<typeof setUp>;
/** What was charged, deducted and refunded, in this order. */
let calls: string[];
/** The points that an operation costs in the end. */
let used: number;
/** The times for which turns occupied the process. */
let occupied: number[];
/** What the next turns wait for. */
let turns: Promise<void>[];
let slots: number[][];
let refused: 'document' | 'operation' | 'slot' | null;
/** What the next charges wait for. */
let admissions: Promise<void>[];

const client: AuthenticatedClient = {
  interfaceName: 'customer',
  clientId: 'client',
  accountId: '1',
  schemaVersion: '2026-11-01',
  costLimit: { maximum: 2_000, restoreRate: 200 },
};

const buckets: CostBuckets = {
  status: () => ({ ...throttleStatus, nextPointMs: 1 }),
  charge(_, __, points, retryPoints = points) {
    const isDocument = points === retryPoints;
    calls.push(isDocument ? `charge ${points}` : `charge ${points} of ${retryPoints}`);
    if (refused === (isDocument ? 'document' : 'operation'))
      return Promise.resolve({ admitted: false, throttleStatus, retryAfterMs: 1 });
    const admission: Charge = { admitted: true, throttleStatus, end() {} };
    const waits = admissions.shift();
    return waits === undefined ? admission : waits.then(() => admission);
  },
  knownRejection: () => null,
  deduct: (_, __, points) => calls.push(`deduct ${points}`),
  refund(_, __, points) {
    calls.push(`refund ${points}`);
    return throttleStatus;
  },
  sweep() {},
};

async function waitForTurn(): Promise<EndTurn> {
  await turns.shift();
  return (occupiedMs) => occupied.push(occupiedMs);
}

function takeSlot(): () => void {
  if (refused === 'slot') throw new RequestError('RATE_LIMITED');
  // The calls before it, and the calls before it is left.
  const slot = [calls.length];
  slots.push(slot);
  return () => slot.push(calls.length);
}

interface SetUp {
  schema?: GraphQLSchema;
  limits?: typeof requestLimits;
  plugins?: RequestPlugin[];
  context?: object;
  needed?: readonly Ability[];
}

interface Served {
  state: RequestState;
  body: ExecutionResult;
}

/** Serves one version by Yoga with the plugins that an operation passes, and the buckets of above. */
function setUp({
  schema = customerSchema,
  limits = requestLimits,
  plugins = [],
  context = {},
  needed = [],
}: SetUp = {}) {
  const version: Partial<ServedVersion> = {
    schema,
    documents: createDocuments(schema, limits, () => {}),
    pricing: { price: () => ({ requestedQueryCost: 8, priceOf: () => used }) },
    neededAbilities: () => needed,
    usedCoordinates: () => [],
  };
  const begin: RequestPlugin = {
    onRequest({ request, serverContext }) {
      serverContext.requestState = stateOf(request);
    },
    onRequestParse: ({ request, setRequestParser }) => setRequestParser(() => paramsOf.get(stateOf(request)) ?? {}),
  };
  const all: object[] = [
    begin,
    useDocuments(),
    useExecution(schema, () => {}),
    useCharge(limits),
    ...plugins,
    useCost(limits),
    useResponse(limits),
  ];
  const yoga = createYoga<RequestContext>({
    schema,
    plugins: [withoutDefaults(all), ...all],
    context: ({ requestState }) => (requestState.context = { extensions: {}, ...context }),
    fetchAPI: lightFetch,
    parserAndValidationCache: false,
    maskedErrors: false,
    logging: false,
  });
  return async (params: object, bodyBytes: number): Promise<Served> => {
    const message = Object.assign(new IncomingMessage(new Socket()), { method: 'POST', url: '/graphql' });
    const state = new RequestState(message, http, { error: () => '' });
    const account = new RequestAccount({ buckets, turns: waitForTurn, slots: takeSlot, limits }, client, state);
    Object.assign(state, { caller: { client, keyId: 'key', abilities: [] }, account, version, bodyBytes });
    paramsOf.set(state, params);
    const response = await yoga.handleRequest(asRequest(new LightRequest(state, new Set())), noContext);
    return { state, body: JSON.parse(await response.text()) };
  };
}

const paramsOf = new WeakMap<RequestState, object>();

const http: HandlerContext = {
  requestId: 'request',
  address: '127.0.0.1',
  ready: true,
  acceptBody() {},
  authenticated: () => null,
  drop() {},
  isOpen: () => true,
  whenClosed: () => () => {},
  async waitWhileOpen() {},
};

const customerSchema = buildSchema(customerSdl);

beforeEach(() => {
  [calls, refused, turns, occupied, slots, admissions] = [[], null, [], [], [], []];
  // Every operation costs 8 points before it runs, and 3 in the end, unless a test changes that.
  used = 3;
  serve = setUp();
});

/** Runs a document of some bytes. Returns its cost, or the code of its error. */
async function run(query: string, bytes = query.length, bodyBytes = bytes + 12): Promise<OperationCost | string> {
  const { state } = await serve({ query: query.padEnd(bytes), variables: {} }, bodyBytes);
  return outcomeOf(state);
}

/** Time that passes only where the test says so, until its end. */
function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

const pass = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

function outcomeOf({ outcome, cost }: RequestState): OperationCost | string {
  return cost ?? String(outcome?.code);
}

const valid = '{customer{id}}';

test('a document that is read pays the difference to the price of its operation', async () => {
  expect(await run(valid, 201)).toEqual({ requestedQueryCost: 8, actualQueryCost: 3, throttleStatus });
  expect(calls).toEqual(['charge 3', 'charge 5 of 8', 'refund 5']);
});

test('an operation has a slot after it is charged and until it has run, even if its variables are rejected', async () => {
  await run(valid);
  await run('query($first:Int!){webhookSubscriptions(first:$first){nodes{id}}}');
  expect(calls).toEqual([
    'charge 1',
    'charge 7 of 8',
    'refund 5',
    'charge 1',
    'charge 7 of 8',
    'deduct 32',
    'refund 0',
  ]);
  expect(slots).toEqual([
    [2, 2],
    [5, 5],
  ]);
});

test('an operation that its key may not run pays for reading it, in full each time', async () => {
  serve = setUp({ needed: ['WRITE'] });
  const outcomes = [await run(valid, 201), await run(valid, 201, 1_500)];
  expect(outcomes).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  expect(calls).toEqual(['charge 3', 'deduct 3']);
  expect(slots).toEqual([]);
});

test('an operation that used more than it was charged owes the difference', async () => {
  used = 20;
  expect(await run(valid)).toEqual({ requestedQueryCost: 8, actualQueryCost: 20, throttleStatus });
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'deduct 12', 'refund 0']);
});

test('the extra work of resolvers costs points in the end, even if the operation fails, and at most the limit', async () => {
  const runWith = async (cost: number, query = valid, fails = false): Promise<unknown> => {
    const extraWork = { cost: 0 };
    const work: RequestPlugin = {
      onExecute({ executeFn, setExecuteFn }) {
        setExecuteFn((args: ExecutionArgs) => {
          extraWork.cost += cost;
          if (fails) throw new RequestError('OPERATION_TIMEOUT');
          return executeFn(args);
        });
      },
    };
    calls = [];
    const { state } = await setUp({ plugins: [work], context: { extraWork } })({ query }, 20);
    return state.cost?.actualQueryCost ?? state.outcome?.code;
  };
  expect(await runWith(4_001)).toBe(8);
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'refund 0']);
  expect(await runWith(5_000_000)).toBe(1_000);
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'deduct 992', 'refund 0']);
  expect(await runWith(20_000, valid, true)).toBe('OPERATION_TIMEOUT');
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'deduct 20', 'refund 0']);
});

test('a document that costs more to read than to run costs that, never the sum', async () => {
  expect(await run(valid, 1_000)).toEqual({ requestedQueryCost: 10, actualQueryCost: 10, throttleStatus });
  expect(calls).toEqual(['charge 10', 'refund 0']);
});

test('a cached document is charged once, and costs nothing to read', async () => {
  await run(valid, 1_000);
  calls = [];
  expect(await run(valid, 1_000)).toEqual({ requestedQueryCost: 8, actualQueryCost: 3, throttleStatus });
  expect(calls).toEqual(['charge 8', 'refund 5']);
});

test('a new document waits for its turn, and costs nothing to read if another request has read it meanwhile', async () => {
  const second = Promise.withResolvers<void>();
  turns = [Promise.resolve(), second.promise];
  const costs = [run(valid, 1_000), run(valid, 1_000)];
  expect(await costs[0]).toMatchObject({ requestedQueryCost: 10, actualQueryCost: 10 });
  expect(calls).toEqual(['charge 10', 'refund 0']);
  second.resolve();
  expect(await costs[1]).toMatchObject({ requestedQueryCost: 8, actualQueryCost: 3 });
  expect(calls).toEqual(['charge 10', 'refund 0', 'charge 8', 'refund 5']);
});

test('a document whose charge waits costs nothing to read if another request has read it meanwhile', async () => {
  const refund = Promise.withResolvers<void>();
  admissions = [refund.promise];
  const first = run(valid, 1_000);
  await vi.waitFor(() => expect(calls).toEqual(['charge 10']));
  await run(valid, 1_000);
  calls = [];
  refund.resolve();
  expect(await first).toMatchObject({ requestedQueryCost: 8, actualQueryCost: 3 });
  expect(calls).toEqual(['refund 10', 'charge 8', 'refund 5']);
});

test('a document whose client has gone while its charge waited is not read', async () => {
  const refund = Promise.withResolvers<void>();
  admissions = [refund.promise];
  const first = run(valid);
  await vi.waitFor(() => expect(occupied).toEqual([0]));
  const isOpen = vi.spyOn(RequestState.prototype, 'isOpen').mockReturnValue(false);
  refund.resolve();
  expect(await first).toBe('SERVICE_UNAVAILABLE');
  isOpen.mockRestore();
  expect(occupied).toEqual([0, 0]);
});

test('a plugin that waits while a document is read occupies nothing', async () => {
  useFakeClock();
  const waits: RequestPlugin = {
    onParams: ({ paramsHandler, setParamsHandler }) =>
      setParamsHandler(async (params) => {
        await pass(500);
        return paramsHandler(params);
      }),
  };
  serve = setUp({ plugins: [waits] });
  await run(valid);
  expect(occupied).toEqual([0]);
});

test('a large body costs points, including with a cached document', async () => {
  await run(valid);
  calls = [];
  expect(await run(valid, valid.length, 10_000)).toEqual({
    requestedQueryCost: 20,
    actualQueryCost: 20,
    throttleStatus,
  });
  expect(calls).toEqual(['charge 20', 'refund 0']);
});

test('counts the bytes of a document, not its characters', async () => {
  await run(`{customer{id}} # ${'ü'.repeat(100)}`);
  expect(calls[0]).toBe('charge 3');
});

test.each([
  ['a syntax error', '{customer{id}', 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '{customer{nope}}', 'GRAPHQL_VALIDATION_FAILED'],
  ['too many tokens', `{${'x '.repeat(2_000)}}`, 'OPERATION_TOO_COMPLEX'],
])('a document that is rejected costs more than an accepted one: %s', async (_, query, code) => {
  expect(await run(query, 5_000)).toBe(code);
  expect(calls).toEqual(['charge 50', 'deduct 450']);
});

test('a rejected document costs at least 40 points when it is parsed, and only its reading when it is sent again', async () => {
  const answers = [await run('{nope}'), await run('{nope}')];
  expect(answers).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED']);
  expect(calls).toEqual(['charge 1', 'deduct 39', 'charge 1']);
});

test('keeps what was paid for reading if the document is valid and the request is not', async () => {
  expect(await run('query A{customer{id}} query B{customer{id}}')).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(calls).toEqual(['charge 1']);
});

test('variables that are rejected cost what a rejected document of the size of the body costs', async () => {
  const query = 'mutation($i:PlaceOrderInput!){placeOrder(input:$i){order{id}}}';
  expect(await run(query)).toMatchObject({ requestedQueryCost: 40, actualQueryCost: 40 });
  expect(await run(query, query.length, 5_000)).toMatchObject({ actualQueryCost: 500 });
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'deduct 32', 'refund 0', 'charge 10', 'deduct 490', 'refund 0']);
});

test('gets the price back if it has no slot, except for reading the document', async () => {
  refused = 'slot';
  expect(await run(valid, 201)).toBe('RATE_LIMITED');
  expect(calls).toEqual(['charge 3', 'charge 5 of 8', 'refund 5']);
});

/** Serves an operation whose resolver calls this. */
function serveWaiting(work: (pauses: OperationPauses) => Promise<void>, limits = requestLimits): Promise<Served> {
  const pauses = new OperationPauses();
  const schema = buildSchema('type Query { customer: Int }');
  Object.assign(schema.getQueryType()?.getFields()['customer'] ?? {}, { resolve: () => work(pauses).then(() => null) });
  return setUp({ schema, limits, context: { pauses } })({ query: '{customer}' }, 20);
}

async function runWaiting(...given: Parameters<typeof serveWaiting>): Promise<unknown> {
  const { state, body } = await serveWaiting(...given);
  return state.cost ? [body.data, body.errors?.length ?? 0, state.cost.actualQueryCost] : state.outcome?.code;
}

test('an operation that waits has no slot and only the points for reading it', async () => {
  const waiting: unknown[] = [];
  expect(
    await runWaiting((pauses) =>
      pauses.during(async () => void waiting.push(calls.at(-1), slots.length, slots[0]?.length)),
    ),
  ).toEqual([{ customer: null }, 0, 3]);
  expect(waiting).toEqual(['refund 7', 1, 2]);
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'refund 7', 'deduct 7', 'refund 5']);
  expect(slots.map((slot) => slot.length)).toEqual([2, 2]);
});

test('an operation whose field gets no slot after its wait owes what it used', async () => {
  expect(await runWaiting((pauses) => pauses.during(async () => void (refused = 'slot')))).toEqual([
    { customer: null },
    1,
    3,
  ]);
  expect(calls).toEqual(['charge 1', 'charge 7 of 8', 'refund 7', 'deduct 7', 'refund 5']);
});

test('an operation that ends while its wait resumes owes nothing for it', async () => {
  const resumed = Promise.withResolvers<void>();
  const ends = serveWaiting(async (pauses) => {
    pauses.add({ pause() {}, resume: () => resumed.promise });
    pauses.add({ pause() {}, resume: () => void calls.push('resumed') });
    void pauses.during(async () => {});
    await sleep(1);
    throw new Error('Another field of the operation fails.');
  });
  await ends;
  resumed.resolve();
  await sleep(1);
  expect(calls).not.toContain('resumed');
});

test('a request whose client goes while it waits has the outcome of a closed one', async () => {
  const isOpen = vi.spyOn(RequestState.prototype, 'isOpen');
  const { state } = await serveWaiting((pauses) => pauses.during(async () => void isOpen.mockReturnValue(false)));
  isOpen.mockRestore();
  expect(state.outcome).toMatchObject({ isClientGone: true });
});

/** Works before its wait, and for 49 ms after it. */
const waitAfter = (ms: number) => (pauses: OperationPauses) =>
  pass(ms)
    .then(() => pauses.during(() => pass(300)))
    .then(() => pass(49));

test('the time of a wait does not count, and the time around it does', async () => {
  useFakeClock();
  const limits = { ...requestLimits, operationMs: 100 };
  expect(await runWaiting(waitAfter(50), limits)).toEqual([{ customer: null }, 0, 3]);
  expect(await runWaiting(waitAfter(51), limits)).toBe('OPERATION_TIMEOUT');
});

test('a document that waits for refunds holds no turn, and takes another one to be read', async () => {
  const refund = Promise.withResolvers<void>();
  admissions = [refund.promise];
  const first = run(valid);
  await vi.waitFor(() => expect(occupied).toEqual([0]));
  expect(await run('{customer{name}}')).toMatchObject({ actualQueryCost: 3 });
  expect(occupied).toHaveLength(2);
  refund.resolve();
  expect(await first).toMatchObject({ actualQueryCost: 3 });
  expect(occupied).toHaveLength(3);
});

test('does not parse a document whose reading is refused', async () => {
  refused = 'document';
  expect([await run(valid), await run('{nope}')]).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
  expect(occupied).toEqual([0, 0]);
});

test('keeps the document of an operation that is refused, so that a retry costs its price only', async () => {
  refused = 'operation';
  expect(await run(valid, 201)).toBe('RATE_LIMITED');
  refused = null;
  await run(valid, 201);
  expect(calls).toEqual(['charge 3', 'charge 5 of 8', 'charge 8', 'refund 5']);
});

import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { issueCredential, setClientLimit } from '@deedwire/actions';
import { abilities as everyAbility } from '@deedwire/core';
import { createHarness, type Harness } from '@deedwire/dev-environment/test/firm/harness';
import { serveContract } from '@deedwire/graphql-server';
import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { credentialHeaders } from '@deedwire/testing';
import { buildSchema, type GraphQLSchema, validate, parse } from 'graphql';
import { type LargestValues, largestSchema } from '../../support/largest-schema.ts';
import { type ArgumentValues, type RandomOperation, randomOperation } from '../../support/random-operation.ts';
import { createRandom } from '../../support/random.ts';

const maxBytes = 1_000_000;
const maxPoints = 1000;
/** Short texts and identifiers under many aliases have up to so many bytes for a point. Pages as a whole stay below 1,000. */
const maxBytesPerPoint = 1400;
/** The response without `data`. */
const envelopeBytes = 500;

/** The promises of the documentation, as literals. */
const largest: LargestValues = {
  characters: {
    'ApiKey.addresses': 43,
    'ApiKey.id': 12,
    'ApiKey.lastUsedFrom': 39,
    'ApiKey.lastUsedVersion': 10,
    'ApiKey.name': 100,
    'ApiKeyCreator.apiKeyId': 12,
    'ApiKeyCreator.portalActor': 100,
    'Lender.name': 200,
    'TeamMember.firstName': 200,
    'TeamMember.lastName': 200,
    'TeamMember.email': 254,
    'Partner.name': 200,
    'Referral.clientName': 200,
    'Referral.clientEmail': 254,
    'Referral.externalReference': 200,
    'Referral.note': 5000,
    'WebhookSubscription.callbackUrl': 2048,
    'WebhookSubscription.name': 100,
    'WebhookAttempt.advice': 250,
    'WebhookDelay.message': 250,
    'WebhookDelivery.payload': 256_000,
    'WebhookDelivery.preview': 256_000,
    // The payloads of a page have 400,000 bytes at most, and a page has 100 events.
    'WebhookEvent.payload': 4_000,
    'WebhookEventType.description': 150,
    'WebhookExchange.callbackUrl': 2048,
    'WebhookExchange.remoteAddress': 45,
    'WebhookExchange.responseBody': 16_384,
    'WebhookExchange.responseBodyBase64': 21_848,
    'WebhookHeader.name': 100,
    'WebhookHeader.value': 300,
    'PortalLink.url': 400,
    'ContactEmail.email': 254,
    'UpdateContactEmailsUserError.message': 500,
    'CreateApiKeyPayload.apiKeySecret': 80,
    'CreateApiKeyUserError.message': 500,
    'CreatePortalLinkUserError.message': 500,
    'CreateReferralUserError.message': 500,
    'CreateWebhookListenerUserError.message': 900,
    'CreateWebhookSubscriptionUserError.message': 900,
    'DeleteWebhookListenerUserError.message': 500,
    'UpdateWebhookSubscriptionUserError.message': 900,
    'PauseWebhookSubscriptionUserError.message': 500,
    'ResumeWebhookSubscriptionUserError.message': 900,
    'RetryWebhookDeliveryUserError.message': 500,
    'ReplayWebhookEventsUserError.message': 500,
    'CancelWebhookReplayUserError.message': 500,
    'RotateWebhookSecretUserError.message': 500,
    'SendTestWebhookEventUserError.message': 900,
    'CreateWebhookSubscriptionPayload.webhookSecret': 94,
    'Query.webhookEgressAddresses': 43,
    'RotateWebhookSecretPayload.webhookSecret': 94,
    'RotateApiKeyPayload.apiKeySecret': 80,
    'RotateApiKeyUserError.message': 500,
    'RevokeApiKeyUserError.message': 500,
  },
  items: {
    'ApiKey.abilities': 6,
    'ApiKey.addresses': 20,
    'Query.apiKeys': 25,
    'Query.contactEmails': 5,
    'ContactEmail.unsubscribedFrom': 5,
    'UpdateContactEmailsPayload.contactEmails': 5,
    'Lender.members': 250,
    'Query.webhookEgressAddresses': 32,
    'Query.webhookEventTypes': 12,
    'Query.webhookListeners': 10,
    'Query.webhookSubscriptions': 20,
    'WebhookEventType.versions': 6,
    'WebhookReplayEstimate.byType': 12,
    'WebhookListener.eventTypes': 12,
    'WebhookSubscription.eventTypes': 12,
    'WebhookDelivery.attempts': 20,
    'WebhookExchange.requestHeaders': 24,
    'WebhookExchange.responseHeaders': 40,
    ...Object.fromEntries(
      [
        'CreateApiKey',
        'RotateApiKey',
        'RevokeApiKey',
        'CreatePortalLink',
        'UpdateContactEmails',
        'CreateReferral',
        'CreateWebhookListener',
        'CreateWebhookSubscription',
        'UpdateWebhookSubscription',
        'PauseWebhookSubscription',
        'ResumeWebhookSubscription',
        'RetryWebhookDelivery',
        'ReplayWebhookEvents',
        'CancelWebhookReplay',
        'RotateWebhookSecret',
        'SendPendingWebhookDeliveries',
        'SendTestWebhookEvent',
        'DeleteWebhookListener',
        'DeleteWebhookSubscription',
      ].flatMap((mutation) => [
        [`${mutation}Payload.userErrors`, 24],
        [`${mutation}UserError.field`, 4],
      ]),
    ),
  },
  otherwise: { responseBody: 'responseBodyBase64' },
};

const id = 'gid://service/WebhookSubscription/1';
const argumentValues: ArgumentValues = {
  'Query.referral(id:)': id,
  'Query.referralsByIds(ids:)': Array.from({ length: 100 }, () => id),
  'Query.webhookSubscription(id:)': id,
  'Query.webhookDelivery(id:)': id,
  'Query.webhookReplay(id:)': id,
  'WebhookDelivery.preview(version:)': '2026-11-01',
  'Query.webhookEvents(subscriptionId:)': id,
  'Mutation.createApiKey(input:)': { name: 'a', abilities: ['READ'] },
  'Mutation.rotateApiKey(input:)': { id: 'a' },
  'Mutation.revokeApiKey(input:)': { id: 'a' },
  'Mutation.createPortalLink(input:)': { abilities: ['READ'], actor: 'a' },
  'Mutation.updateContactEmails(input:)': { emails: ['ada@a.test'] },
  'Mutation.createReferral(input:)': { clientName: 'Ada' },
  'Mutation.createWebhookListener(input:)': { eventTypes: [{ type: 'x' }] },
  'Mutation.createWebhookSubscription(input:)': { callbackUrl: 'https://example.com', eventTypes: [{ type: 'x' }] },
  'Mutation.updateWebhookSubscription(input:)': { id },
  'Mutation.pauseWebhookSubscription(input:)': { id },
  'Mutation.resumeWebhookSubscription(input:)': { id },
  'Mutation.retryWebhookDelivery(input:)': { id },
  'Mutation.replayWebhookEvents(input:)': { subscriptionId: id },
  'Mutation.cancelWebhookReplay(input:)': { id },
  'Mutation.rotateWebhookSecret(input:)': { id },
  'Mutation.sendPendingWebhookDeliveries(input:)': { subscriptionId: id },
  'Mutation.sendTestWebhookEvent(input:)': { subscriptionId: id },
  'Mutation.deleteWebhookListener(input:)': { id },
  'Mutation.deleteWebhookSubscription(input:)': { id },
};

const interfaces = { lender, partner };

export const pricedVersions = (['lender', 'partner'] as const).flatMap((name) =>
  interfaces[name].versions.map(({ version }) => ({ name, version })),
);

export interface Outcome {
  /** Contradictions to the promises of the costs. At most 5. */
  problems: string[];
  /** The number of operations that were executed. */
  executed: number;
  /** The number of operations that cost more than the limit. */
  tooExpensive: number;
  /** The number of responses that were replaced because of their size. */
  tooLarge: number;
  mostPoints: number;
  mostBytes: number;
  /** The largest number of bytes per point. */
  mostBytesPerPoint: number;
}

/** A running API whose fields have the largest values that the contract allows. */
export interface LargestApi {
  /** Sends random operations, the same for the same seed. */
  run(seed: number, rounds: number): Promise<Outcome>;
  post(operation: Partial<RandomOperation> & { query: string }): Promise<Answer>;
  /** Compares the CPU time of 1,000 points of random operations with that of a reference. */
  measureCpu(seed: number, operations: number): Promise<CpuOutcome>;
  close(): Promise<void>;
}

export interface CpuOutcome {
  /** To write and read a megabyte of JSON. */
  referenceMicroseconds: number;
  measured: number;
  medianRatio: number;
  /**
   * The CPU time of 1,000 points divided by that of the reference: the largest ones, in descending order. Without what each request
   * costs, and with what the client needs for the bytes.
   */
  largest: { ratio: number; points: number; query: string }[];
}

export interface Answer {
  status: number;
  bytes: number;
  body: {
    data?: unknown;
    errors?: { message: string; path?: (string | number)[]; extensions: { code: string } }[];
    extensions?: { cost: { requestedQueryCost: number; actualQueryCost: number } };
  };
}

/** @param character what the texts consist of */
export async function startLargestApi(
  name: keyof typeof interfaces,
  version: string,
  character: string,
): Promise<LargestApi> {
  const harness: Harness = await createHarness();
  const { sdl, versions, costs, abilities } = interfaces[name];
  const schemas = new Map(versions.map((each) => [each.version, largestSchema(sdl(each.version), largest, character)]));
  const contract = serveContract({ sdl, versions, costs, abilities }, schemas);
  const service = await harness.startApi(name, {}, contract);
  await service.whenReady;
  const url = `${service.url}/${name}s/graphql`;
  const schema = buildSchema(sdl(version));

  const account = harness.accounts[name];
  const issue = () =>
    issueCredential(harness.operator, {
      interfaceName: name,
      accountId: account.id,
      clientId: null,
      abilities: everyAbility,
    });
  let credential = await issue();

  /** Continues with a new client, whose bucket is full, when the points of a client are used up. */
  async function post(operation: Partial<RandomOperation> & { query: string }): Promise<Answer> {
    const answer = await send(operation);
    if (answer.status !== 429) return answer;
    credential = await issue();
    return send(operation);
  }

  async function send(operation: Partial<RandomOperation> & { query: string }): Promise<Answer> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Schema-Version': version,
        ...credentialHeaders(credential),
      },
      body: JSON.stringify(operation),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, bytes: bytes.length, body: JSON.parse(bytes.toString()) };
  }

  /** A client whose bucket never ends, because a new one would cost CPU time. */
  async function createMeter() {
    const rich = await issueCredential(harness.operator, {
      interfaceName: name,
      accountId: account.id,
      clientId: null,
    });
    const much = 1_000_000_000;
    await setClientLimit(harness.operator, { clientId: rich.clientId, maximum: much, restoreRate: much });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = {
      'Content-Type': 'application/json',
      'X-Service-Schema-Version': version,
      ...credentialHeaders(rich),
    };
    const options = { method: 'POST', headers, agent };
    /** Sends an operation several times, without reading what the responses contain. Returns the CPU time of one. */
    async function cpuMicrosecondsOf(operation: { query: string }, times: number): Promise<number> {
      const body = JSON.stringify(operation);
      const before = process.cpuUsage();
      for (let sent = 0; sent < times; sent += 1) {
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          httpRequest(url, options, resolve).once('error', reject).end(body);
        });
        await once(response.resume(), 'end');
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / times;
    }
    return { cpuMicrosecondsOf, close: () => agent.destroy() };
  }

  async function measureCpu(seed: number, operations: number): Promise<CpuOutcome> {
    const { cpuMicrosecondsOf, close } = await createMeter();
    try {
      return await compareCpu(post, cpuMicrosecondsOf, schema, seed, operations);
    } finally {
      close();
    }
  }

  return {
    run: (seed, rounds) => run(post, schema, character, seed, rounds),
    post,
    measureCpu,
    close: () => harness.close(),
  };
}

/** The CPU time of cheaper operations is hardly more than what each request costs. */
const minMeasuredPoints = 100;
const cheapest = { query: '{__typename}' };

const megabyte = Array.from({ length: 5000 }, (_, index) => ({
  id: `gid://service/Referral/${index}`,
  status: 'OPEN',
  clientName: `Client ${index}`,
  note: 'x'.repeat(80),
  createdAt: new Date(0).toISOString(),
}));

/** Writes and reads a megabyte of JSON: what the machine does in about the same time in each run. */
function referenceCpuMicroseconds(): number {
  const before = process.cpuUsage();
  JSON.parse(JSON.stringify(megabyte));
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

async function compareCpu(
  post: LargestApi['post'],
  cpuMicrosecondsOf: (operation: { query: string }, times: number) => Promise<number>,
  schema: GraphQLSchema,
  seed: number,
  operations: number,
): Promise<CpuOutcome> {
  const random = createRandom(seed);
  const ratios: CpuOutcome['largest'] = [];
  const references: number[] = [];
  while (ratios.length < operations) {
    const operation = randomOperation(random, schema, argumentValues);
    const { body } = await post(operation);
    const points = body.extensions?.cost.actualQueryCost ?? 0;
    if (body.data === undefined || points < minMeasuredPoints || operation.query.startsWith('mutation')) continue;
    await cpuMicrosecondsOf(operation, 3); // from the third run on, it has a plan
    let ratio = Number.POSITIVE_INFINITY;
    // Other work on the machine and garbage collection only add time, so the least of several counts.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const ofReference = referenceCpuMicroseconds();
      references.push(ofReference);
      const ofRequest = await cpuMicrosecondsOf(cheapest, 8);
      const ofPoints = Math.max(0, (await cpuMicrosecondsOf(operation, 2)) - ofRequest);
      ratio = Math.min(ratio, (ofPoints / points) * (maxPoints / ofReference));
    }
    ratios.push({ ratio, points, query: operation.query });
  }
  const sorted = ratios.toSorted((one, other) => other.ratio - one.ratio);
  return {
    referenceMicroseconds: Math.min(...references),
    measured: ratios.length,
    medianRatio: sorted[Math.floor(sorted.length / 2)]?.ratio ?? Number.NaN,
    largest: sorted.slice(0, 5),
  };
}

async function run(
  post: LargestApi['post'],
  schema: GraphQLSchema,
  character: string,
  seed: number,
  rounds: number,
): Promise<Outcome> {
  const random = createRandom(seed);
  const outcome: Outcome = {
    problems: [],
    executed: 0,
    tooExpensive: 0,
    tooLarge: 0,
    mostPoints: 0,
    mostBytes: 0,
    mostBytesPerPoint: 0,
  };
  for (let round = 0; round < rounds && outcome.problems.length < 5; round += 1) {
    const operation = randomOperation(random, schema, argumentValues);
    const answer = await post(operation);
    const problem = record(outcome, answer, character) ?? describeInvalid(schema, operation, answer);
    if (problem !== null) outcome.problems.push(`${problem}: ${JSON.stringify(operation).slice(0, 3000)}`);
  }
  return outcome;
}

/** Counts a response, and describes how it contradicts the promises of the costs. Null if it does not. */
function record(outcome: Outcome, { status, bytes, body }: Answer, character: string): string | null {
  if (status >= 500) return `the status is ${status}`;
  if (bytes > maxBytes) return `the response has ${bytes} bytes`;
  const message = body.errors?.[0]?.message ?? '';
  if (body.data === undefined) {
    if (message.startsWith('The operation costs')) outcome.tooExpensive += 1;
    if (message.startsWith('The response has')) outcome.tooLarge += 1;
    const code = body.errors?.[0]?.extensions.code;
    return status === 200 || code === 'OPERATION_TOO_COMPLEX' ? null : `${status} ${message}`;
  }
  if (body.errors?.some(({ extensions }) => extensions.code === 'INTERNAL_SERVER_ERROR')) return 'there is a bug';
  const cost = body.extensions?.cost;
  if (!cost) return 'there is no cost';
  const { requestedQueryCost, actualQueryCost } = cost;
  const objects = countObjects(body.data) - 1;
  outcome.executed += 1;
  outcome.mostPoints = Math.max(outcome.mostPoints, requestedQueryCost);
  outcome.mostBytes = Math.max(outcome.mostBytes, bytes);
  outcome.mostBytesPerPoint = Math.max(outcome.mostBytesPerPoint, Math.round(bytes / requestedQueryCost));
  const most = Math.max(requestedQueryCost, actualQueryCost);
  if (most > maxPoints) return `it costs ${most} points`;
  const hasShortCharacters = Buffer.byteLength(JSON.stringify(character)) === 3;
  // As priceOf() says: the path of an error contains the aliases once more.
  const hasLongPaths = body.errors?.some(({ path }) => JSON.stringify(path ?? []).length > 200) ?? false;
  if (hasShortCharacters && !hasLongPaths && actualQueryCost > requestedQueryCost)
    return `${actualQueryCost} points are more than ${requestedQueryCost}`;
  const usesIntrospection = JSON.stringify(body.data).includes('"__Type"');
  // An object costs a quarter of a point or more, and a point pays for 20 µs and 1,000 bytes.
  if (!usesIntrospection && objects > 4 * actualQueryCost) return `${objects} objects cost ${actualQueryCost} points`;
  if (bytes > maxBytesPerPoint * actualQueryCost + envelopeBytes)
    return `${bytes} bytes cost ${actualQueryCost} points`;
  return null;
}

/** The generator must write valid operations, so that a rejection never hides an unpriced one. */
function describeInvalid(schema: GraphQLSchema, { query }: RandomOperation, { status, body }: Answer): string | null {
  if (status === 200 && body.data !== undefined) return null;
  if (body.errors?.[0]?.extensions.code === 'OPERATION_TOO_COMPLEX') return null;
  return `not valid: ${validate(schema, parse(query)).map(String).join(' ')} ${JSON.stringify(body.errors)}`;
}

function countObjects(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, item: unknown) => sum + countObjects(item), 0);
  return Array.isArray(value) ? inner : inner + 1;
}

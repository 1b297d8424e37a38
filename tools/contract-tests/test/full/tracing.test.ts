import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHarness, startSystem, urlsOfApps } from '@deedwire/dev-environment/harness';
import { commandsOf, createClient, eventually, postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { expect, test } from 'vitest';
import { succeed } from '../support/command.ts';
import { dump } from '../support/dump.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PlaceDocument, SubscribeDocument } from '../support/webhook-operations.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// A whole system, with the file that docs/operations/traces.md shows. The collector is this test.

interface Span {
  app: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  status: { code?: number; message?: string };
  links: { traceId: string; spanId: string }[];
}

interface OtlpValue {
  stringValue?: string;
  intValue?: number;
}
interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}
interface OtlpSpan extends Omit<Span, 'app' | 'attributes' | 'links'> {
  attributes: OtlpAttribute[];
  links?: Span['links'];
}
interface OtlpBody {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

const spans: Span[] = [];
/** Everything that comes out of the system. */
const output = { log: '', traces: '', metrics: '', database: '' };

const secretKey = randomBytes(32).toString('base64');

const { path: folder } = await forFile(temporaryFolder('tracing'));
const page = await readFile(join(workspaceRoot, 'docs/operations/traces.md'), 'utf8');
const [install = '', file = '', variables = ''] = commandsOf(page, 'Traces', 3);
await writeFile(join(folder, 'tracing.mjs'), file);
await succeed('sh', ['-c', install.replaceAll('/etc/deedwire/tracing', folder)], { cwd: folder });
const collector = await forFile(
  startReceiver({
    onDelivery(response, { headers, body }) {
      collect(`${JSON.stringify(headers)}\n`, body.toString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    },
  }),
);
const shown = variables
  .replace('/etc/deedwire/tracing', folder)
  .replace('http://collector.example.com:4318', `http://127.0.0.1:${collector.port}`);
const tracing = Object.fromEntries(
  Array.from(shown.matchAll(/^(\w+)=(.*)$/gm), ([, name = '', value = '']) => [name, value]),
);
const receiver = await forFile(startReceiver());
const h = await forFile(createHarness());
const databaseUrls = await urlsOfApps(h.database);
const system = await forFile(
  startSystem({
    databaseUrls,
    webhookSecretKeys: `test:${secretKey}`,
    env: {
      DATABASE_TIMEOUT_MS: '20000',
      LOG_LEVEL: 'trace',
      ...tracing,
      TRACE_SHARE: '1',
    },
    appEnv: {
      'customer-api': { OTEL_SERVICE_NAME: 'customer-api' },
      'webhook-worker': { OTEL_SERVICE_NAME: 'webhook-worker' },
    },
    onLine(_app, line) {
      output.log += `${line}\n`;
    },
  }),
);
const urls = {
  supplier: `${system.apps['supplier-api'].url}/supplier/graphql`,
  customer: `${system.apps['customer-api'].url}/customer/graphql`,
};

function collect(head: string, text: string): void {
  output.traces += head + text;
  const body: OtlpBody = JSON.parse(text);
  for (const { resource, scopeSpans } of body.resourceSpans) {
    const app = String(attributesOf(resource.attributes)['service.name']);
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      spans.push({ ...span, app, attributes: attributesOf(span.attributes), links: span.links ?? [] });
    }
  }
}

function attributesOf(attributes: OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}

async function spansNamed(name: string, count: number): Promise<Span[]> {
  await eventually(() => expect(spans.filter((span) => span.name === name)).toHaveLength(count));
  return spans.filter((span) => span.name === name);
}

const clientTrace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function ask<Data, Input>(document: TypedDocumentNode<Data, { input: Input }>, input: Input) {
  const client = createClient(urls.customer, h.accounts.customer.credential, { traceparent: clientTrace });
  const { data, errors, headers } = await client.send(document, { input });
  expect(errors).toEqual([]);
  return { data, requestId: headers.get('x-request-id') };
}

test('a mutation, the fan-out of its event and each attempt are one trace, of which the receiver gets nothing', async () => {
  const subscription = { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] };
  await ask(SubscribeDocument, subscription);
  receiver.onDelivery = (response) => {
    response.writeHead(receiver.deliveries.length === 1 ? 500 : 204).end();
  };
  const { requestId } = await ask(PlaceDocument, { item: 'Ada', buyerEmail: 'ada@client.example' });
  await receiver.waitFor(2);

  const [mutation] = await spansNamed('mutation Place', 1);
  const [fanOut] = await spansNamed('fan-out order.placed', 1);
  const [failed, succeeded] = await spansNamed('attempt order.placed', 2);
  const common = { 'deedwire.cell': 0, 'deedwire.request.id': requestId };
  expect(mutation).toMatchObject({
    app: 'customer-api',
    kind: 2,
    status: {},
    // The trace of a client is no part of ours.
    links: [{ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }],
    attributes: {
      ...common,
      'graphql.operation.type': 'mutation',
      'graphql.operation.name': 'Place',
      'deedwire.interface': 'customer',
      'deedwire.client.id': h.accounts.customer.clientId,
    },
  });
  expect(mutation?.parentSpanId ?? '').toBe('');
  expect(mutation?.traceId).not.toBe('0af7651916cd43dd8448eb211c80319c');
  expect(fanOut).toMatchObject({
    app: 'webhook-worker',
    kind: 1,
    traceId: mutation?.traceId,
    parentSpanId: mutation?.spanId,
    attributes: { ...common, 'deedwire.event.type': 'order.placed', 'deedwire.deliveries': 1 },
  });
  const ofAttempts = { app: 'webhook-worker', kind: 3, traceId: mutation?.traceId, parentSpanId: fanOut?.spanId };
  expect(failed).toMatchObject({
    ...ofAttempts,
    status: { code: 2, message: '500' },
    attributes: { ...common, 'deedwire.attempt': 1, 'http.response.status_code': 500, 'server.address': '127.0.0.1' },
  });
  expect(succeeded).toMatchObject({
    ...ofAttempts,
    attributes: { ...common, 'deedwire.attempt': 2, 'http.response.status_code': 204 },
  });
  for (const { headers, body } of receiver.requests) {
    expect(Object.keys(headers)).not.toContain('traceparent');
    expect(body.toString()).not.toContain(mutation?.traceId);
  }
  // The log names the request as without traces.
  const attempts = output.log.split('\n').filter((line) => line.includes('"msg":"attempt"'));
  const lines = attempts.map((line) => JSON.parse(line) as unknown);
  expect(lines).toContainEqual(expect.objectContaining({ requestId, cell: 0 }));
});

test('a worker that reads the delivery again continues the trace', async () => {
  const before = spans.filter(({ name }) => name === 'attempt order.placed').length;
  let isDown = true;
  receiver.onDelivery = (response) => {
    response.writeHead(isDown ? 500 : 204).end();
  };
  await ask(PlaceDocument, { item: 'Grace', buyerEmail: 'grace@client.example' });
  await spansNamed('attempt order.placed', before + 1);
  await system.apps['webhook-worker'].stop();
  isDown = false;
  await system.restart('webhook-worker');
  const attempts = await spansNamed('attempt order.placed', before + 2);
  const [first, second] = attempts.slice(before);
  expect(second).toMatchObject({ traceId: first?.traceId, parentSpanId: first?.parentSpanId });
  expect(second?.attributes['deedwire.attempt']).toBe(2);
});

test('an operation that fails has the code of its error', async () => {
  const { body } = await postGraphql(urls.customer, h.accounts.customer.credential, {
    query: 'query Broken { webhookSubscriptions(first: 1, after: "nonsense") { nodes { id } } }',
  });
  const [span] = await spansNamed('query Broken', 1);
  expect(body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  expect(span?.status).toEqual({ code: 2, message: 'BAD_USER_INPUT' });
});

test('a canary secret is in no log, trace, metric or dump', async () => {
  const { supplier, customer } = h.accounts;
  const query = '{ webhookSubscriptions(first: 5) { nodes { id } } }';
  // It echoes the request header of the subscription.
  receiver.onDelivery = (response, { headers }) => {
    response.writeHead(200, { 'X-Echo': String(headers.authorization) }).end(JSON.stringify(headers));
  };
  const sent = receiver.deliveries.length;
  const gatewayKey = randomBytes(24).toString('base64url');
  const requestHeader = { name: 'Authorization', value: `Bearer ${gatewayKey}` };
  const eventTypes = [{ type: 'order.placed' }];
  const subscription = { callbackUrl: `${receiver.url}?second`, eventTypes, requestHeader };
  const { data } = await ask(SubscribeDocument, { ...subscription, idempotencyKey: 'canary' });
  // The answer is saved, with the secret, and read again.
  expect(await ask(SubscribeDocument, { ...subscription, idempotencyKey: 'canary' })).toMatchObject({ data });
  await ask(PlaceDocument, { item: 'Edsger', buyerEmail: 'edsger@client.example' });
  const deliveries = await receiver.waitFor(sent + 2);
  expect(deliveries.map(({ headers }) => headers.authorization)).toContain(requestHeader.value);
  await eventually(async () =>
    expect(await h.sql(`select from webhook_exchange where 'x-echo' = any (response_headers)`)).not.toEqual([]),
  );
  for (const [url, { credential }] of [
    [urls.supplier, supplier],
    [urls.customer, customer],
    // A key of the other interface, and one that is almost right.
    [urls.supplier, customer],
    [urls.customer, { credential: { ...customer.credential, apiKey: `${customer.credential.apiKey.slice(0, -1)}~` } }],
  ] as const) {
    await postGraphql(url, credential, { query });
    await postGraphql(url, credential, { query: 'query {' });
  }
  await eventually(() => expect(spans.filter(({ name }) => name === 'query').length).toBeGreaterThanOrEqual(2));
  for (const { adminUrl } of Object.values(system.apps)) {
    output.metrics += await (await fetch(`${adminUrl}/metrics`)).text();
  }
  output.database = await dump(h);

  const secret = data?.createWebhookSubscription.webhookSecret ?? '';
  expect(secret).toMatch(/^whsec_/);
  const passwords = ['supplier_api', 'customer_api', 'webhook_worker'].map(
    async (role) => new URL(await h.database.urlFor(role)).password,
  );
  const canaries: Record<string, string> = {
    'key of the supplier': supplier.credential.apiKey,
    'key of the customer': customer.credential.apiKey,
    'end of the key': customer.credential.apiKey.slice(-20, -1),
    'webhook secret': secret.replace('whsec_', ''),
    'request header': gatewayKey,
    'key of webhook secrets': secretKey,
    ...Object.fromEntries((await Promise.all(passwords)).map((password, index) => [`password ${index}`, password])),
  };
  const found: string[] = [];
  for (const [name, canary] of Object.entries(canaries)) {
    if (canary.length < 9) throw new Error(`The ${name} is too short to search for it.`);
    const bytes = Buffer.from(canary, 'base64').toString('hex');
    const texts = [canary, encodeURIComponent(canary), btoa(canary), Buffer.from(canary).toString('hex'), bytes];
    for (const [kind, text] of Object.entries(output)) {
      if (texts.some((each) => text.includes(each))) found.push(`${name} in ${kind}`);
    }
  }
  // Signatures are what a receiver got: the database keeps them with the details of attempts, for their owner.
  for (const { headers } of receiver.requests) {
    const signature = String(headers['webhook-signature']).replace('v1,', '');
    for (const kind of ['log', 'traces', 'metrics'] as const) {
      if (output[kind].includes(signature)) found.push(`signature in ${kind}`);
    }
  }
  expect(found).toEqual([]);
  // The search finds what is there.
  expect(output.log).toContain(customer.clientId);
  expect(output.traces).toContain(customer.clientId);
  expect(output.metrics).toContain('deedwire_build_info');
  expect(output.database).toContain('edsger@client.example');
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { createClient, type Receiver, startReceiver } from '@deedwire/testing';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import deliveryHeaders from '../../../../packages/webhook-contract/delivery-headers.json' with { type: 'json' };
import { npmInstall } from '../support/installed-packages.ts';
import { subscribe } from '../support/subscribe.ts';
import * as operations from '../support/webhook-operations.ts';

// Agents of tracing vendors load the instrumentations of undici and http by default.
const packages = [
  '@opentelemetry/api@1.9',
  '@opentelemetry/core@2',
  '@opentelemetry/instrumentation@0.208',
  '@opentelemetry/instrumentation-http@0.208',
  '@opentelemetry/instrumentation-undici@0.19',
  '@opentelemetry/propagator-b3@2',
  '@opentelemetry/sdk-trace-node@2',
];

const program = `
  import { createRequire } from 'node:module';
  import { propagation } from '@opentelemetry/api';
  import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
  import { registerInstrumentations } from '@opentelemetry/instrumentation';
  import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
  import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
  import { B3InjectEncoding, B3Propagator } from '@opentelemetry/propagator-b3';
  import { ConsoleSpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

  const baggage = propagation.createBaggage({ user: { value: '1' } });
  const ofVendor = {
    fields: () => [],
    extract: (context) => context,
    inject(context, carrier, setter) {
      new W3CBaggagePropagator().inject(propagation.setBaggage(context, baggage), carrier, setter);
      setter.set(carrier, 'x-vendor', '1');
    },
  };
  const propagators = [
    new W3CTraceContextPropagator(),
    new B3Propagator({ injectEncoding: B3InjectEncoding.SINGLE_HEADER }),
    new B3Propagator({ injectEncoding: B3InjectEncoding.MULTI_HEADER }),
    ofVendor,
  ];
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }).register({
    propagator: new CompositePropagator({ propagators }),
  });
  registerInstrumentations({ instrumentations: [new UndiciInstrumentation(), new HttpInstrumentation()] });
  // The apps use the same object.
  createRequire(import.meta.url)('node:http');
`;

let folder: string;
let receiver: Receiver;
let t: TestSystem;
/** What each app prints. */
const output = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deedwire-trace-headers-'));
  await npmInstall(folder, packages);
  const file = join(folder, 'tracing.mjs');
  await writeFile(file, program);
  receiver = await startReceiver();
  t = await startTestSystem({
    env: { NODE_OPTIONS: `--import=${file}` },
    onLine: (app, line) => void output.set(app, `${output.get(app) ?? ''}${line}\n`),
  });
});

afterAll(async () => {
  await t.close();
  await receiver.close();
  await rm(folder, { recursive: true });
});

const sendTest = parse(`mutation ($input: SendTestWebhookEventInput!) {
  sendTestWebhookEvent(input: $input) { webhookEventId userErrors { code } } }`);

const { headerPrefix } = testService.names;
const nameOf = (name: string): string => name.replace('{headerPrefix}', headerPrefix).toLowerCase();
const ofTransport = ['accept-encoding', 'connection', 'content-length', 'host'];
const allowed = [...ofTransport, ...Object.keys(deliveryHeaders.headers).map(nameOf)];

test('a receiver gets documented headers only, whatever instruments the requests', async () => {
  receiver.onDelivery = (response) => {
    response.writeHead(receiver.deliveries.length === 1 ? 503 : 204).end();
  };
  const client = createClient(t.urls.customer, t.accounts.customer.credential, {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'vendor=1',
  });
  const eventTypes = [{ type: 'order.placed' }, { type: 'webhook.test' }];
  const { id: subscriptionId } = await subscribe(client, { callbackUrl: receiver.url, eventTypes });
  await client.request(operations.PlaceDocument, { input: { item: 'Ada' } });
  await receiver.waitFor(2);
  await client.request(sendTest, { input: { subscriptionId } });
  await receiver.waitFor(3);

  expect(receiver.handshakes).toHaveLength(1);
  expect(receiver.deliveries.map(({ headers }) => headers['x-service-webhook-event'])).toEqual([
    'order.placed',
    'order.placed',
    'webhook.test',
  ]);
  const others = receiver.requests
    .flatMap(({ headers }) => Object.keys(headers))
    .filter((name) => !allowed.includes(name));
  expect(others).toEqual([]);
  // The instrumentations have seen the requests.
  expect(output.get('customer-api')).toContain('@opentelemetry/instrumentation-undici');
  expect(output.get('customer-api')).toContain('@opentelemetry/instrumentation-http');
  expect(output.get('webhook-worker')).toContain('@opentelemetry/instrumentation-undici');
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasPayloads, readLayout } from '@deedwire/layout';
import { copyShop } from '@deedwire/layout/shop';
import { loadAsyncApiParser } from '@deedwire/testing/asyncapi-parser';
import { forFile } from '@deedwire/testing/for-file';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { afterAll, describe, expect, test } from 'vitest';
import { contractFolderOf } from '../../src/event-versions.ts';
import { writeGenerated } from '../../src/generated.ts';
import { asyncApiDocument } from '../../src/payloads/asyncapi-document.ts';
import { composedPayloads } from '../../src/payloads/composed-payloads.ts';
import { readEventTypes } from '../../src/payloads/event-types.ts';
import { payloads } from '../../src/payloads/payloads.ts';
import { workspaceRoot } from '../../src/workspace-files.ts';
import { everyKind } from '../support/every-kind.ts';

const shop = copyShop();
afterAll(() => shop.close());
const layout = await readLayout(shop.folder);
if (!hasPayloads(layout)) throw new Error('The shop has no payloads.');
writeGenerated(composedPayloads(layout));
writeGenerated(await payloads(layout));
const eventTypes = await readEventTypes(layout);
const parser = await forFile(loadAsyncApiParser());

interface Message {
  name: string;
  headers: { properties: Record<string, { const?: string }>; required: string[] };
  bindings: { http: { headers: { properties: object; required: string[] } } };
  payload: { $ref: string };
  examples?: { payload: unknown }[];
  'x-status': string;
}

interface Document {
  channels: Record<string, { messages: Record<string, { $ref: string }> }>;
  operations: Record<string, { action: string; messages: { $ref: string }[]; security: { $ref: string }[] }>;
  components: { messages: Record<string, Message>; schemas: Record<string, { deprecated?: boolean }> };
}

const channels = {
  handshake: { request: 'HandshakeRequest', response: 'HandshakeResponse' },
  'api_key.created': { '2026-11-01': 'ApiKeyCreated20261101' },
  'api_key.expiring': { '2026-11-01': 'ApiKeyExpiring20261101' },
  'api_key.revoked': { '2026-11-01': 'ApiKeyRevoked20261101' },
  'api_key.rotated': { '2026-11-01': 'ApiKeyRotated20261101' },
  'order.shipped': { '2026-11-01': 'OrderShipped20261101', '2027-02-01': 'OrderShipped20270201' },
  'webhook.test': { '2026-11-01': 'WebhookTest20261101' },
  'webhook_delivery.failed': { '2026-11-01': 'WebhookDeliveryFailed20261101' },
  'webhook_subscription.disrupted': { '2026-11-01': 'WebhookSubscriptionDisrupted20261101' },
  'webhook_subscription.paused': { '2026-11-01': 'WebhookSubscriptionPaused20261101' },
  'webhook_subscription.recovered': { '2026-11-01': 'WebhookSubscriptionRecovered20261101' },
};

describe('the AsyncAPI document of an interface', () => {
  const published = join(shop.folder, 'webhook-events/asyncapi/customer.json');
  const document: Document = JSON.parse(readFileSync(published, 'utf8'));

  test('is valid according to the official parser', async () => {
    expect(await parser.problemsOf(document)).toEqual([]);
  });

  test('has a channel and an operation for each event type, with a message for each version', () => {
    const components = Object.entries(document.channels).map(([channel, { messages }]) => [
      channel,
      Object.fromEntries(
        Object.entries(messages).map(([name, { $ref }]) => [name, $ref.replace('#/components/messages/', '')]),
      ),
    ]);
    expect(Object.fromEntries(components)).toEqual(channels);
    expect(Object.keys(document.operations)).toEqual(Object.keys(channels));
    for (const [channel, { action, messages, security }] of Object.entries(document.operations)) {
      expect(action).toBe('send');
      const versions = Object.keys(document.channels[channel]?.messages ?? {}).filter((name) => name !== 'response');
      expect(messages).toEqual(versions.map((version) => ({ $ref: `#/channels/${channel}/messages/${version}` })));
      expect(security).toEqual([
        { $ref: '#/components/securitySchemes/signature' },
        { $ref: '#/components/securitySchemes/standardWebhooks' },
      ]);
    }
  });

  test('accepts and rejects the same bodies as the published JSON Schemas, as draft 07', () => {
    const expected = { accept: true, reject: false, 'other-event': false, 'unknown-field': true, 'loose-time': true };
    const wrong: string[] = [];
    let judged = 0;
    for (const [type, { messages }] of Object.entries(document.channels)) {
      if (type === 'handshake') continue;
      for (const [version, { $ref }] of Object.entries(messages)) {
        const id = $ref.replace('#/components/messages/', '');
        const ajv = new Ajv({ strict: true, formats: fullFormats });
        const validate = ajv.compile(document.components.schemas[id] ?? false);
        for (const [kind, isValid] of Object.entries(expected)) {
          const folder = join(workspaceRoot, contractFolderOf(layout.payloads, type), 'fixtures', type, version, kind);
          for (const file of existsSync(folder) ? readdirSync(folder) : []) {
            judged += 1;
            const body: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
            if (validate(body) !== isValid) wrong.push(`${type}/${version}/${kind}/${file}`);
          }
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(judged).toBeGreaterThan(80);
  });

  test('every message of an event has an example and constant event headers', () => {
    for (const [id, message] of Object.entries(document.components.messages)) {
      if (id.startsWith('Handshake')) continue;
      const { properties, required } = message.headers;
      expect(properties['X-Shop-Webhook-Event']?.const).toBe(message.name);
      expect(id).toContain(properties['X-Shop-Webhook-Event-Version']?.const?.replaceAll('-', '') ?? '?');
      expect(required).toEqual(expect.arrayContaining(['X-Shop-Webhook-Signature', 'webhook-signature', 'webhook-id']));
      expect(required).not.toContain('X-Shop-Webhook-Signature-Next');
      expect(message.bindings.http.headers.required).toEqual(['Content-Type', 'User-Agent']);
      const version = properties['X-Shop-Webhook-Event-Version']?.const;
      expect(message.examples).toMatchObject([
        { name: 'typical', payload: { id: 'gid://shop/WebhookEvent/123456', type: message.name, version } },
      ]);
    }
  });
});

const documentOf = (types: typeof eventTypes): Document =>
  JSON.parse(JSON.stringify(asyncApiDocument(layout, 'customer', types)));

/** With another status of the older version. */
function withStatus(status: 'current' | 'deprecated' | 'retired'): Document {
  const changed = { status, deprecatedOn: '2027-02-01', sunsetOn: '2028-02-01' };
  const shipped = eventTypes.filter(({ type }) => type === 'order.shipped');
  return documentOf(
    shipped.map((eventType) => ({
      ...eventType,
      versions: eventType.versions.map((version) => ({
        ...version,
        ...(version.version === '2026-11-01' && changed),
      })),
    })),
  );
}

test('marks a deprecated version and lists the headers that announce its end', async () => {
  const document = withStatus('deprecated');
  expect(await parser.problemsOf(document)).toEqual([]);
  expect(document.components.schemas['OrderShipped20261101']?.deprecated).toBe(true);
  const { OrderShipped20261101: deprecated, OrderShipped20270201: preview } = document.components.messages;
  expect(deprecated).toMatchObject({
    description: 'Deprecated on 2027-02-01, and sent until its sunset on 2028-02-01.',
    'x-status': 'deprecated',
    'x-deprecated-on': '2027-02-01',
    'x-sunset-on': '2028-02-01',
  });
  expect(Object.keys(deprecated?.bindings.http.headers.properties ?? {})).toEqual([
    'Content-Type',
    'User-Agent',
    'Deprecation',
    'Sunset',
    'Link',
  ]);
  expect(Object.keys(preview?.bindings.http.headers.properties ?? {})).toEqual(['Content-Type', 'User-Agent']);
});

test('is valid with a message of every kind that a payload can have', async () => {
  const document = documentOf([everyKind]);
  expect(Object.keys(document.components.schemas)).toContain('OrderPaid20270601');
  expect(await parser.problemsOf(document)).toEqual([]);
});

test('leaves out a retired version', async () => {
  const document = withStatus('retired');
  expect(await parser.problemsOf({ ...document, info: { title: 'A', version: '1' } })).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('20261101');
});

test('the parser reports a message that does not exist', async () => {
  const document = withStatus('current');
  const [operation] = Object.values(document.operations).slice(1);
  operation?.messages.push({ $ref: '#/channels/order.shipped/messages/2020-01-01' });
  expect(await parser.problemsOf(document)).toContainEqual(
    expect.stringMatching(/'#\/channels\/order\.shipped\/messages\/2020-01-01' does not exist/),
  );
});

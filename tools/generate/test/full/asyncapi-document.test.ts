import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type InterfaceName, interfaceNames } from '@deedwire/firm/interfaces';
import { names } from '@deedwire/firm/names';
import { installApart } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { webhookEventTypes, type EventVersionStatus } from '@deedwire/webhook-events';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { describe, expect, test } from 'vitest';
import { contractFolderOf, typicalBodyPath } from '../../src/event-versions.ts';
import { asyncApiDocument } from '../../src/payloads/asyncapi-document.ts';
import { workspaceRoot } from '../../src/workspace-files.ts';
import { everyKind } from '../support/every-kind.ts';

const events = 'packages/webhook-events';
const root = join(workspaceRoot, events);

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

function read(interfaceName: string): Document {
  return JSON.parse(readFileSync(join(root, 'asyncapi', `${interfaceName}.json`), 'utf8'));
}

interface Parser {
  parse(document: string): Promise<{ diagnostics: { severity: number; path: (string | number)[]; message: string }[] }>;
}

const apart = await forFile(installApart('asyncapi'));
const { Parser }: { Parser: new () => Parser } = createRequire(join(apart.folder, 'package.json'))('@asyncapi/parser');

// In the parser, 0 is an error, 1 a warning, 2 a piece of information and 3 a hint.
/** The errors and warnings of the official parser, as `path: message`. */
async function problemsOf(document: object): Promise<string[]> {
  const { diagnostics } = await new Parser().parse(JSON.stringify(document));
  return diagnostics
    .filter(({ severity }) => [0, 1].includes(severity))
    .map(({ path, message }) => `${path.join('/')}: ${message}`);
}

// Literals on purpose: receivers generate names from them, so an existing one never changes.
const expectedChannels: Partial<Record<InterfaceName, object>> = {
  lender: {
    handshake: { request: 'HandshakeRequest', response: 'HandshakeResponse' },
    'api_key.created': { '2026-11-01': 'ApiKeyCreated20261101' },
    'api_key.expiring': { '2026-11-01': 'ApiKeyExpiring20261101' },
    'api_key.revoked': { '2026-11-01': 'ApiKeyRevoked20261101' },
    'api_key.rotated': { '2026-11-01': 'ApiKeyRotated20261101' },
    'lender.updated': { '2026-11-01': 'LenderUpdated20261101' },
    'team_member.added': { '2026-11-01': 'TeamMemberAdded20261101' },
    'team_member.removed': { '2026-11-01': 'TeamMemberRemoved20261101' },
    'team_member.updated': { '2026-11-01': 'TeamMemberUpdated20261101' },
    'webhook.test': { '2026-11-01': 'WebhookTest20261101' },
    'webhook_delivery.failed': { '2026-11-01': 'WebhookDeliveryFailed20261101' },
    'webhook_subscription.disrupted': { '2026-11-01': 'WebhookSubscriptionDisrupted20261101' },
    'webhook_subscription.paused': { '2026-11-01': 'WebhookSubscriptionPaused20261101' },
    'webhook_subscription.recovered': { '2026-11-01': 'WebhookSubscriptionRecovered20261101' },
  },
  partner: {
    handshake: { request: 'HandshakeRequest', response: 'HandshakeResponse' },
    'api_key.created': { '2026-11-01': 'ApiKeyCreated20261101' },
    'api_key.expiring': { '2026-11-01': 'ApiKeyExpiring20261101' },
    'api_key.revoked': { '2026-11-01': 'ApiKeyRevoked20261101' },
    'api_key.rotated': { '2026-11-01': 'ApiKeyRotated20261101' },
    'referral.converted': { '2026-11-01': 'ReferralConverted20261101', '2027-02-01': 'ReferralConverted20270201' },
    'referral.created': { '2026-11-01': 'ReferralCreated20261101' },
    'referral.declined': { '2026-11-01': 'ReferralDeclined20261101' },
    'webhook.test': { '2026-11-01': 'WebhookTest20261101' },
    'webhook_delivery.failed': { '2026-11-01': 'WebhookDeliveryFailed20261101' },
    'webhook_subscription.disrupted': { '2026-11-01': 'WebhookSubscriptionDisrupted20261101' },
    'webhook_subscription.paused': { '2026-11-01': 'WebhookSubscriptionPaused20261101' },
    'webhook_subscription.recovered': { '2026-11-01': 'WebhookSubscriptionRecovered20261101' },
  },
};

describe.each(interfaceNames)('the AsyncAPI document of the %s interface', (interfaceName) => {
  const document = read(interfaceName);

  test('is valid according to the official parser', async () => {
    expect(await problemsOf(document)).toEqual([]);
  });

  test('has a channel and an operation for each event type, with a message for each version', () => {
    const components = Object.entries(document.channels).map(([channel, { messages }]) => [
      channel,
      Object.fromEntries(
        Object.entries(messages).map(([name, { $ref }]) => [name, $ref.replace('#/components/messages/', '')]),
      ),
    ]);
    const expected = expectedChannels[interfaceName] ?? Object.fromEntries(components);
    expect(Object.fromEntries(components)).toEqual(expected);
    expect(Object.keys(document.operations)).toEqual(Object.keys(expected));
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
          const folder = join(workspaceRoot, contractFolderOf(events, type), 'fixtures', type, version, kind);
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
      expect(properties['X-Service-Webhook-Event']?.const).toBe(message.name);
      expect(id).toContain(properties['X-Service-Webhook-Event-Version']?.const?.replaceAll('-', '') ?? '?');
      expect(required).toEqual(
        expect.arrayContaining(['X-Service-Webhook-Signature', 'webhook-signature', 'webhook-id']),
      );
      expect(required).not.toContain('X-Service-Webhook-Signature-Next');
      expect(message.bindings.http.headers.required).toEqual(['Content-Type', 'User-Agent']);
      const typical = typicalBodyPath(events, message.name, properties['X-Service-Webhook-Event-Version']?.const ?? '');
      const payload: unknown = JSON.parse(readFileSync(join(workspaceRoot, typical), 'utf8'));
      expect(message.examples).toEqual([{ name: 'typical', payload }]);
    }
  });
});

function schemaOf(type: string, version: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, 'json-schema', type, `${version}.json`), 'utf8'));
}

function withStatus(status: EventVersionStatus, sunsetOn: string | null = '2028-02-01'): Document {
  const eventTypes = webhookEventTypes
    .filter(({ type }) => type === 'referral.converted')
    .map((eventType) => ({
      ...eventType,
      versions: eventType.versions.map((version) => ({
        ...version,
        ...(version.version === '2026-11-01' && { status, deprecatedOn: '2027-02-01', sunsetOn }),
        schema: schemaOf(eventType.type, version.version),
      })),
    }));
  const document = asyncApiDocument({ names, payloads: events }, 'partner', eventTypes);
  return JSON.parse(JSON.stringify(document));
}

test('marks a deprecated version and lists the headers that announce its end', async () => {
  const document = withStatus('deprecated');
  expect(await problemsOf(document)).toEqual([]);
  expect(document.components.schemas['ReferralConverted20261101']?.deprecated).toBe(true);
  const { ReferralConverted20261101: deprecated, ReferralConverted20270201: preview } = document.components.messages;
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
  const document: Document = JSON.parse(
    JSON.stringify(asyncApiDocument({ names, payloads: events }, 'partner', [everyKind])),
  );
  expect(Object.keys(document.components.schemas)).toContain('OrderPaid20270601');
  expect(await problemsOf(document)).toEqual([]);
});

test('leaves out a retired version', async () => {
  const document = withStatus('retired');
  expect(await problemsOf({ ...document, info: { title: 'A', version: '1' } })).toEqual([]);
  expect(JSON.stringify(document)).not.toContain('20261101');
});

test('the parser reports a message that does not exist', async () => {
  const document = withStatus('current');
  const [operation] = Object.values(document.operations).slice(1);
  operation?.messages.push({ $ref: '#/channels/referral.converted/messages/2020-01-01' });
  expect(await problemsOf(document)).toContainEqual(
    expect.stringMatching(/'#\/channels\/referral\.converted\/messages\/2020-01-01' does not exist/),
  );
});

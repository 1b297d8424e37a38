import { readFileSync } from 'node:fs';
import { type InterfaceName, interfaceNames } from '@deedwire/firm';
import { loadAsyncApiParser } from '@deedwire/testing/asyncapi-parser';
import { forFile } from '@deedwire/testing/for-file';
import { describe, expect, test } from 'vitest';

interface Document {
  channels: Record<string, { messages: Record<string, { $ref: string }> }>;
}

const parser = await forFile(loadAsyncApiParser());
const folder = new URL('../../../../../packages/webhook-events/asyncapi/', import.meta.url);

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
  const document: Document = JSON.parse(readFileSync(new URL(`${interfaceName}.json`, folder), 'utf8'));

  test('is valid according to the official parser', async () => {
    expect(await parser.problemsOf(document)).toEqual([]);
  });

  test('has a channel for each event type, with a message for each version', () => {
    const channels = Object.entries(document.channels).map(([channel, { messages }]) => [
      channel,
      Object.fromEntries(
        Object.entries(messages).map(([name, { $ref }]) => [name, $ref.replace('#/components/messages/', '')]),
      ),
    ]);
    expect(Object.fromEntries(channels)).toEqual(expectedChannels[interfaceName] ?? Object.fromEntries(channels));
  });
});

import type { AppendedSnapshots } from './event-snapshots.ts';
import { formatGid } from './gid.ts';
import { toRecordId } from './record-id.ts';

const time = '2026-11-03T09:30:00.000Z';

/**
 * What a test event of each type contains. Rendered at any version, it is the example of the reference: the typical fixture of
 * `webhook-events`. No record has these ids. Free texts have characters outside ASCII: a receiver that decodes the body before it verifies
 * refuses them.
 */
export function sampleSnapshots(gidNamespace: string): AppendedSnapshots {
  const lender = { id: formatGid(gidNamespace, 'Lender', toRecordId('7')), name: 'Harbour & Sons Lending Zürich 🏡' };
  const teamMember = {
    id: formatGid(gidNamespace, 'TeamMember', toRecordId('31')),
    firstName: 'Ada',
    lastName: 'Núñez',
    email: 'ada.nunez@lender.example',
  };
  const referral = {
    id: formatGid(gidNamespace, 'Referral', toRecordId('4711')),
    externalReference: 'CRM-2026/0815 Müller 🏡',
  };
  const matter = {
    id: formatGid(gidNamespace, 'Matter', toRecordId('99')),
    reference: 'M-2026-000099',
    openedAt: time,
  };
  const webhookSubscription = {
    id: formatGid(gidNamespace, 'WebhookSubscription', toRecordId('512')),
    name: 'Orders Zürich 🏡',
  };
  const apiKey = {
    id: 'ExampleKeyId',
    name: 'CRM Zürich 🏡',
    abilities: ['READ', 'WRITE'],
    expiresAt: '2026-12-03T09:30:00.000Z',
  };
  const createdBy = { apiKeyId: 'AnotherKeyId', portalActor: 'user-17' };
  return {
    'api_key.created': { apiKey, createdBy },
    'api_key.expiring': { apiKey },
    'api_key.revoked': { apiKey, revokedAt: time },
    'api_key.rotated': { apiKey, replacedApiKey: { id: 'ReplacedKey0', expiresAt: time }, createdBy },
    'lender.updated': { lender, changed: ['lender.name'] },
    'referral.converted': { referral: { ...referral, status: 'CONVERTED' }, matter, convertedAt: time },
    'referral.created': { referral: { ...referral, status: 'OPEN' } },
    'referral.declined': {
      referral: { ...referral, status: 'DECLINED' },
      declinedAt: time,
      reason: 'Outside of our area.',
    },
    'team_member.added': { lender, teamMember },
    'team_member.removed': { lender, teamMember },
    'team_member.updated': { lender, teamMember, changed: ['teamMember.email'] },
    'webhook.test': { message: 'This is a test, also of é and 🏡.' },
    'webhook_delivery.failed': {
      webhookSubscription,
      since: time,
      failedCount: 2,
      webhookDeliveryIds: ['815', '816'].map((id) => formatGid(gidNamespace, 'WebhookDelivery', toRecordId(id))),
    },
    'webhook_subscription.disrupted': { webhookSubscription, failingSince: time, consecutiveFailures: 17 },
    'webhook_subscription.paused': { webhookSubscription, reason: 'GONE', pausedAt: time },
    'webhook_subscription.recovered': { webhookSubscription, disruptedAt: time },
  };
}

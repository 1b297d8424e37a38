// The content that the outbox stores for each event, from which every version of its payload is rendered. Ids are global
// identifiers, times are RFC 3339 in UTC. One build writes a snapshot and another, newer or older, reads it: only add fields.

import type { GidTypeName } from './gid.ts';
import type { InterfaceName } from './interface-name.ts';
import type { ReferralStatus } from './referral.ts';

interface ReferralSnapshot {
  id: string;
  status: ReferralStatus;
  externalReference: string | null;
}

interface LenderSnapshot {
  id: string;
  name: string;
}

interface TeamMemberSnapshot {
  id: string;
  firstName: string;
  lastName: string;
  email: string;
}

interface WebhookSubscriptionSnapshot {
  id: string;
  name: string | null;
}

/** The snapshot of each event type. Functions of the database write those of alerts: `packages/store/migrations/0040-alerts.sql`. */
export interface EventSnapshots {
  'lender.updated': { lender: LenderSnapshot };
  'referral.converted': {
    referral: ReferralSnapshot;
    matter: { id: string; reference: string; openedAt: string };
    convertedAt: string;
  };
  'referral.created': { referral: ReferralSnapshot };
  'referral.declined': { referral: ReferralSnapshot; declinedAt: string; reason: string | null };
  'team_member.added': { lender: LenderSnapshot; teamMember: TeamMemberSnapshot };
  'team_member.removed': { lender: LenderSnapshot; teamMember: TeamMemberSnapshot };
  'team_member.updated': { lender: LenderSnapshot; teamMember: TeamMemberSnapshot };
  'webhook.test': { message: string };
  'webhook_delivery.failed': {
    webhookSubscription: WebhookSubscriptionSnapshot;
    since: string;
    failedCount: number;
    webhookDeliveryIds: string[];
  };
  'webhook_subscription.disrupted': {
    webhookSubscription: WebhookSubscriptionSnapshot;
    failingSince: string;
    consecutiveFailures: number;
  };
  'webhook_subscription.paused': { webhookSubscription: WebhookSubscriptionSnapshot; reason: string; pausedAt: string };
  'webhook_subscription.recovered': { webhookSubscription: WebhookSubscriptionSnapshot; disruptedAt: string };
}

/**
 * The type of the record that an event is about, by which its deliveries are found. Of an event with two records it is the one that
 * changed: a team member and not its lender, a referral and not its matter. Null: it reports no change of a record.
 */
export const recordTypeOf = {
  'lender.updated': 'Lender',
  'referral.converted': 'Referral',
  'referral.created': 'Referral',
  'referral.declined': 'Referral',
  'team_member.added': 'TeamMember',
  'team_member.removed': 'TeamMember',
  'team_member.updated': 'TeamMember',
  'webhook.test': null,
  'webhook_delivery.failed': null,
  'webhook_subscription.disrupted': null,
  'webhook_subscription.paused': null,
  'webhook_subscription.recovered': null,
} as const satisfies Record<keyof EventSnapshots, GidTypeName | null>;

/** The types of events that say how the deliveries of a subscription fare. */
export const alertTypes = [
  'webhook_delivery.failed',
  'webhook_subscription.disrupted',
  'webhook_subscription.paused',
  'webhook_subscription.recovered',
] as const satisfies readonly (keyof EventSnapshots)[];

/** The types of the records that events are about. */
export type EventRecordType = NonNullable<(typeof recordTypeOf)[keyof EventSnapshots]>;

/** The types of the records of an interface that events are about. */
export const eventRecordTypes = {
  lender: ['Lender', 'TeamMember'],
  partner: ['Referral'],
} as const satisfies Record<InterfaceName, readonly EventRecordType[]>;

// The content that the outbox stores for each event, from which every version of its payload is rendered. Ids are global
// identifiers, times are RFC 3339 in UTC. One build writes a snapshot and another, newer or older, reads it: only add fields.

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

/** The snapshot of each event type. */
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
}

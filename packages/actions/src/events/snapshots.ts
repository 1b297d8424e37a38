// What the outbox keeps of each event: all that any version of its payload is made of. Ids are global identifiers, times
// are RFC 3339 in UTC. A snapshot is written by one build and read by another, newer or older: only ever add to it.

interface ReferralSnapshot {
  id: string;
  status: 'OPEN' | 'CONVERTED' | 'DECLINED';
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

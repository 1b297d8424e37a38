import type { OperatorContext } from '@deedwire/actions';
import type { Seed } from '@deedwire/operator';
import { createReferralForPartner } from './referrals/create-referral.ts';
import { listReferralsOfPartner } from './referrals/referrals.ts';
import { addTeamMember } from './team/team-members.ts';

// What the databases of `pnpm dev`, of the demonstration and of tests contain of the law firm.

/** The names of the sample organizations. */
export const sampleOrganizations = ['Harbour Conveyancing', 'Moorland Legal'] as const;

/** The names of the sample accounts that have one. */
export const sampleNames: Readonly<Record<string, string>> = {
  lender: 'Northwind Building Society',
  partner: 'Keystone Estate Agents',
  otherLender: 'Southgate Mortgages',
  otherPartner: 'Bellweather Homes',
};

const people = [
  ['Ada', 'Fairbank', 'ada.fairbank@northwind.example'],
  ['Ben', 'Okoro', 'ben.okoro@northwind.example'],
  ['Chloé', 'Marchand', 'chloe.marchand@northwind.example'],
] as const;

/** The records of a new database. */
export async function seedRecords(context: OperatorContext, { lender }: { lender: { id: string } }): Promise<void> {
  for (const [firstName, lastName, email] of people)
    await addTeamMember(context, { lenderId: lender.id, firstName, lastName, email });
}

/** What `dev.json` says of the records of the sample accounts. */
export interface SampleRecords {
  /** Ids of open referrals of `partner`, at least 20, oldest first. */
  referrals: string[];
}

/** Creates what earlier runs have used up. */
export async function ensureRecords(
  context: OperatorContext,
  { partner }: { partner: { id: string } },
): Promise<SampleRecords> {
  return { referrals: await ensureOpenReferrals(context, partner.id) };
}

const openReferrals = 25;

/** Creates referrals until the partner has 25 open ones. Returns the ids of the open ones, oldest first. */
export async function ensureOpenReferrals(context: OperatorContext, partnerId: string): Promise<string[]> {
  const page = await listReferralsOfPartner(context, { partnerId, status: 'OPEN', first: 100 });
  const open = page.edges.map(({ node }) => node.id).toReversed();
  for (let count = open.length; count < openReferrals; count += 1) {
    const number = String(count + 1).padStart(3, '0');
    const { id } = await createReferralForPartner(context, {
      partnerId,
      clientName: `Client ${number}`,
      clientEmail: `client-${number}@example.com`,
      externalReference: `KEY-${number}`,
      note: null,
    });
    open.push(id);
  }
  return open;
}

/** What `pnpm dev` reads. */
export const firmSeed: Seed<'lender' | 'partner'> = {
  organizations: sampleOrganizations,
  accountNames: sampleNames,
  createRecords: seedRecords,
  ensureRecords,
  firstSteps: {
    interfaceName: 'partner',
    query: '{ referrals(first: 3) { nodes { id clientName status } } }',
    command: `referral create --partner "$PARTNER_ID" --client-name 'Grace Hopper'`,
  },
};

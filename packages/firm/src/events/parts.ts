import { formatGid, toRecordId } from '@deedwire/core';
import * as z from 'zod';
import { type ReferralStatus, referralStatuses } from '../referrals/referral.ts';

// Parts of several snapshots, what identifies a person in them, and what samples have in them.

export const referral = z.object({
  id: z.string(),
  status: z.enum(referralStatuses),
  externalReference: z.string().nullable(),
});
export const matter = z.object({ id: z.string(), reference: z.string(), openedAt: z.string() });
export const lender = z.object({ id: z.string(), name: z.string() });
export const teamMember = z.object({ id: z.string(), firstName: z.string(), lastName: z.string(), email: z.string() });

/**
 * Of an update: the paths of the values in the snapshot that it replaced. Not the values, which the system would otherwise keep longer.
 * Snapshots of earlier builds lack it.
 */
export const changed = z.array(z.string()).exactOptional();

export const ofMember = {
  persons: ['teamMember.firstName', 'teamMember.lastName', 'teamMember.email'],
  address: 'teamMember.email',
};

/** What the events at 2026-11-01 publish of a team member. */
export function publishedMember({ id, firstName, lastName, email }: z.infer<typeof teamMember>) {
  return { id, firstName, lastName, email };
}

export const sampleTime = '2026-11-03T09:30:00.000Z';

export function sampleLender(gidNamespace: string): z.infer<typeof lender> {
  return { id: formatGid(gidNamespace, 'Lender', toRecordId('7')), name: 'Harbour & Sons Lending Zürich 🏡' };
}

export function sampleTeamMember(gidNamespace: string): z.infer<typeof teamMember> {
  return {
    id: formatGid(gidNamespace, 'TeamMember', toRecordId('31')),
    firstName: 'Ada',
    lastName: 'Núñez',
    email: 'ada.nunez@lender.example',
  };
}

export function sampleReferral(gidNamespace: string, status: ReferralStatus): z.infer<typeof referral> {
  return {
    id: formatGid(gidNamespace, 'Referral', toRecordId('4711')),
    status,
    externalReference: 'CRM-2026/0815 Müller 🏡',
  };
}

export function sampleMatter(gidNamespace: string): z.infer<typeof matter> {
  return {
    id: formatGid(gidNamespace, 'Matter', toRecordId('99')),
    reference: 'M-2026-000099',
    openedAt: sampleTime,
  };
}

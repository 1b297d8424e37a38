import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { referral, sampleReferral, sampleTime } from '../parts.ts';

export const referralDeclined = defineEvent('referral.declined', {
  record: { type: 'Referral', id: ({ referral: { id } }) => id },
  persons: ['referral.externalReference', 'reason'],
  snapshot: z.object({ referral, declinedAt: z.string(), reason: z.string().nullable() }),
  sample: (gidNamespace) => ({
    referral: sampleReferral(gidNamespace, 'DECLINED'),
    declinedAt: sampleTime,
    reason: 'Outside of our area.',
  }),
});

export type Snapshot = SnapshotOf<typeof referralDeclined>;

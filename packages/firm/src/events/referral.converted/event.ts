import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { matter, referral, sampleMatter, sampleReferral, sampleTime } from '../parts.ts';

export const referralConverted = defineEvent('referral.converted', {
  record: { type: 'Referral', id: ({ referral: { id } }) => id },
  persons: ['referral.externalReference'],
  snapshot: z.object({ referral, matter, convertedAt: z.string() }),
  sample: (gidNamespace) => ({
    referral: sampleReferral(gidNamespace, 'CONVERTED'),
    matter: sampleMatter(gidNamespace),
    convertedAt: sampleTime,
  }),
});

export type Snapshot = SnapshotOf<typeof referralConverted>;

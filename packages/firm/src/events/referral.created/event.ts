import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { referral, sampleReferral } from '../parts.ts';

export const referralCreated = defineEvent('referral.created', {
  record: { type: 'Referral', id: ({ referral: { id } }) => id },
  persons: ['referral.externalReference'],
  snapshot: z.object({ referral }),
  sample: (gidNamespace) => ({ referral: sampleReferral(gidNamespace, 'OPEN') }),
});

export type Snapshot = SnapshotOf<typeof referralCreated>;

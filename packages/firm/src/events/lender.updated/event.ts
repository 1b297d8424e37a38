import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
import { changed, lender, sampleLender } from '../parts.ts';

export const lenderUpdated = defineEvent('lender.updated', {
  record: { type: 'Lender', id: ({ lender: { id } }) => id },
  snapshot: z.object({ lender, changed }),
  sample: (gidNamespace) => ({ lender: sampleLender(gidNamespace), changed: ['lender.name'] }),
});

export type Snapshot = SnapshotOf<typeof lenderUpdated>;

import { z } from 'zod';
import { timeCodec } from '../time-codec.ts';
import type { Referral } from './referral.ts';

/** How a saved result keeps a referral. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
export const referralCodec = z.object({
  id: z.string(),
  status: z.enum(['OPEN', 'CONVERTED', 'DECLINED']),
  clientName: z.string(),
  clientEmail: z.string().nullable(),
  externalReference: z.string().nullable(),
  note: z.string().nullable(),
  createdAt: timeCodec,
  closedAt: timeCodec.nullable(),
  matter: z.object({ id: z.string(), reference: z.string(), openedAt: timeCodec }).nullable(),
}) satisfies z.ZodType<Referral>;

import * as z from 'zod';
import { formatGid } from '../gid.ts';
import { toRecordId } from '../record-id.ts';

// Parts of several snapshots, and what samples have in them. Functions of the database write the snapshots of alerts and of
// `api_key.expiring`: `0040-alerts.sql` and `0084-keys-by-keys.sql` in `packages/store/migrations`.

export const apiKey = z.object({
  id: z.string(),
  name: z.string().nullable(),
  abilities: z.array(z.string()),
  expiresAt: z.string().nullable(),
});

export const createdBy = z.object({ apiKeyId: z.string().nullable(), portalActor: z.string().nullable() }).nullable();

export const webhookSubscription = z.object({ id: z.string(), name: z.string().nullable() });

export const sampleTime = '2026-11-03T09:30:00.000Z';

export const samples = {
  apiKey: {
    id: 'ExampleKeyId',
    name: 'CRM Zürich 🏡',
    abilities: ['READ', 'WRITE'],
    expiresAt: '2026-12-03T09:30:00.000Z',
  },
  createdBy: { apiKeyId: 'AnotherKeyId', portalActor: 'user-17' },
};

export function sampleSubscription(gidNamespace: string): z.infer<typeof webhookSubscription> {
  return { id: formatGid(gidNamespace, 'WebhookSubscription', toRecordId('512')), name: 'Orders Zürich 🏡' };
}

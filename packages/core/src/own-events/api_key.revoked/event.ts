import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { apiKey, samples, sampleTime } from '../parts.ts';

export const apiKeyRevoked = defineEvent('api_key.revoked', {
  snapshot: z.object({ apiKey, revokedAt: z.string() }),
  sample: () => ({ apiKey: samples.apiKey, revokedAt: sampleTime }),
});

export type Snapshot = SnapshotOf<typeof apiKeyRevoked>;

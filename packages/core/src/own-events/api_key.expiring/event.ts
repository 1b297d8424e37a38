import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { apiKey, samples } from '../parts.ts';

export const apiKeyExpiring = defineEvent('api_key.expiring', {
  snapshot: z.object({ apiKey }),
  sample: () => ({ apiKey: samples.apiKey }),
});

export type Snapshot = SnapshotOf<typeof apiKeyExpiring>;

import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { apiKey, createdBy, samples } from '../parts.ts';

export const apiKeyCreated = defineEvent('api_key.created', {
  snapshot: z.object({ apiKey, createdBy }),
  sample: () => ({ apiKey: samples.apiKey, createdBy: samples.createdBy }),
});

export type Snapshot = SnapshotOf<typeof apiKeyCreated>;

import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';
import { apiKey, createdBy, samples, sampleTime } from '../parts.ts';

export const apiKeyRotated = defineEvent('api_key.rotated', {
  snapshot: z.object({ apiKey, replacedApiKey: apiKey.pick({ id: true, expiresAt: true }), createdBy }),
  sample: () => ({
    apiKey: samples.apiKey,
    replacedApiKey: { id: 'ReplacedKey0', expiresAt: sampleTime },
    createdBy: samples.createdBy,
  }),
});

export type Snapshot = SnapshotOf<typeof apiKeyRotated>;

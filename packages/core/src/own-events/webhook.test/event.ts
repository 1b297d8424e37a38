import * as z from 'zod';
import { defineEvent, type SnapshotOf } from '../../event.ts';

export const webhookTest = defineEvent('webhook.test', {
  snapshot: z.object({ message: z.string() }),
  sample: () => ({ message: 'This is a test, also of é and 🏡.' }),
});

export type Snapshot = SnapshotOf<typeof webhookTest>;

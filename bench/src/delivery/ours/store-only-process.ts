/** The engine without HTTP: every attempt succeeds at once. `store-only-process.ts <database URL> <key id> <key in base64>`. */
import { firm } from '@deedwire/firm';
import { createSecretKeyRing } from '@deedwire/store';
import { createListener } from '@deedwire/store/listener';
import { createRenderer } from '@deedwire/webhook-rendering';
import { createWebhookEngine } from '@deedwire/webhooks';
import { openStores } from '@deedwire/worker/open-stores';
import { setTimer } from '@deedwire/worker/worker';
import { serveParent } from '../../child.ts';

const [databaseUrl = '', keyId = '', key = ''] = process.argv.slice(2);
const applicationName = 'deedwire-bench-store';

const stores = openStores({ databaseUrl, applicationName });
const secretKeys = createSecretKeyRing(new Map([[keyId, Buffer.from(key, 'base64')]]));

const engine = createWebhookEngine({
  store: stores.store,
  fanOutStore: stores.fanOutStore,
  renewalStore: stores.renewalStore,
  directUrl: databaseUrl,
  name: 'bench',
  clock: { nowMs: () => Date.now(), setTimer },
  random: Math.random,
  renderer: createRenderer(firm, 'service'),
  send: async () => ({ startedAt: new Date(), durationMs: 0, responseStatus: 200, error: null, retryAfter: null }),
  openSecret: (ciphertext, associatedData) => secretKeys.decrypt(ciphertext, associatedData),
  retiredVersions: () => [],
  slots: 2000,
  pollMs: 500,
  retentionDays: 30,
  exchangeRetentionDays: 7,
  replayRetentionDays: 90,
  onEvent(event) {
    if ('alarm' in event && event.alarm) throw new Error(`The engine reports ${event.kind}.`);
  },
});
await engine.start();
const listener = createListener({
  databaseUrl,
  applicationName,
  onWake: (payload) => engine.wake(payload),
  onError(error) {
    throw error;
  },
});

serveParent(
  'ready',
  () => {},
  async () => {
    engine.stopClaiming();
    await listener.close();
    await engine.drain();
    await stores.close();
  },
);

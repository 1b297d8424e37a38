import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { seededRandom } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reconcileLossyPush } from '../support/receiver-kit/lossy-push.ts';

let t: Harness;

beforeEach(async () => {
  t = await createHarness();
  await t.startWorker();
});

afterEach(() => t.close());

test.each([1, 2, 3])('reconcile finds what push lost, under 25 kills at random points: %d', async (seed) => {
  const service = await t.startPartnerApi();
  await service.whenReady;
  const url = `${service.url}/partners/graphql`;
  const random = seededRandom(seed);
  const { all, lost, pulled } = await reconcileLossyPush(t, url, {
    events: 600,
    kills: 25,
    killAfterMs: () => random() * 1_500,
  });
  expect(lost.size).toBe(30);
  process.stdout.write(`${JSON.stringify({ seed, events: all, lost: lost.size, pulled: pulled.length })}\n`);
});

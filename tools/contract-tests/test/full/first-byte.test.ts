import { setTimeout as sleep } from 'node:timers/promises';
import { convertReferral } from '@deedwire/actions';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { startReceiver } from '@deedwire/testing';
import { expect, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';

const eventCount = 20;

/** Prints how long an idle system takes from a commit to the arrival of the request. The bound only guards against hanging. */
test('prints the time from the commit of an event to the first byte of its delivery', async () => {
  const t = await startTestSystem();
  const receiver = await startReceiver();
  try {
    await t.partner.request(operations.SubscribeDocument, {
      input: { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.converted' }] },
    });
    const durationsMs: number[] = [];
    for (const [index, referralId] of t.referrals.slice(0, eventCount).entries()) {
      await convertReferral(t.operator, { referralId });
      const committedMs = performance.now();
      const arrived = await receiver.waitFor(index + 1);
      durationsMs.push((arrived[index]?.atMs ?? Number.NaN) - committedMs);
      await sleep(50);
    }
    const sorted = durationsMs.toSorted((a, b) => a - b).map((durationMs) => Math.round(durationMs));
    process.stdout.write(
      `commit to first byte over ${eventCount} events, in ms: min ${sorted[0]}, median ${sorted[eventCount / 2]}, max ${sorted.at(-1)}\n`,
    );
    expect(sorted.at(-1)).toBeLessThan(10_000);
  } finally {
    await t.close();
    await receiver.close();
  }
});

import type { ServerResponse } from 'node:http';
import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

test('the metrics show the breaker of a receiver that fails open, and closed once it works', async ({
  harness,
  receiver,
}) => {
  await harness.startWorker();
  const breakers = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      [...(await harness.metrics()).matchAll(/^deedwire_webhook_breakers\{state="(\w+)"\} (\d+)$/gm)].map(
        ([, state, count]) => [state, Number(count)],
      ),
    );
  expect(await breakers()).toEqual({ closed: 0, open: 0, half_open: 0 });
  await harness.subscribe(receiver.url, ['referral.created']);
  receiver.onDelivery = (response) => {
    response.writeHead(500).end();
  };
  await harness.refer(12);
  await eventually(async () => expect(await breakers()).toEqual({ closed: 0, open: 1, half_open: 0 }));
  expect(receiver.deliveries).toHaveLength(10);
  // The first probe follows after 5 s.
  const held: ServerResponse[] = [];
  receiver.onDelivery = (response) => void held.push(response);
  await receiver.waitFor(11);
  expect(await breakers()).toEqual({ closed: 0, open: 0, half_open: 1 });
  receiver.onDelivery = (response) => {
    response.writeHead(204).end();
  };
  for (const response of held) response.writeHead(204).end();
  await eventually(async () => expect(await breakers()).toEqual({ closed: 1, open: 0, half_open: 0 }));
});

import { eventually } from '@deedwire/testing';
import { expect } from 'vitest';

/**
 * Repeats requests with a credential that has just ended until they get 401. A process accepts it for another second. However long a
 * busy machine takes, a request that is sent later is refused.
 *
 * @param send resolves with the status of each request
 */
export async function refusedInASecond(send: () => Promise<readonly number[]>): Promise<void> {
  const endedMs = performance.now();
  let acceptedMs = endedMs;
  await eventually(async () => {
    const sentMs = performance.now();
    const statuses = await send();
    if (statuses.includes(200)) acceptedMs = sentMs;
    expect(statuses).toEqual(statuses.map(() => 401));
  });
  expect(acceptedMs - endedMs).toBeLessThan(1_500);
}

import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClientTurns } from './client-slots.ts';

test('a client has one turn at a time, in the order of its requests, and others have theirs', async () => {
  const turns = createClientTurns(4);
  const events: string[] = [];
  const request = async (client: string, name: string): Promise<void> => {
    const end = await turns(client);
    events.push(`${name} begins`);
    await nextRound();
    events.push(`${name} ends`);
    end(0);
  };
  await Promise.all(['a1', 'a2', 'b1'].map((name) => request(name.slice(0, 1), name)));
  expect(events).toEqual(['a1 begins', 'b1 begins', 'a1 ends', 'b1 ends', 'a2 begins', 'a2 ends']);
});

test('a client rests for a multiple of the time for which it occupied the process, and others do not', async () => {
  const turns = createClientTurns(4);
  const end = await turns('a');
  const startMs = performance.now();
  end(25);
  const order: string[] = [];
  const second = turns('a').then(() => order.push('a'));
  await turns('b');
  expect(order).toEqual([]);
  await second;
  // Timers can be late, but hardly early.
  expect(performance.now() - startMs).toBeGreaterThan(98);
});

test('a client rests although many others have had turns that occupied nothing', async () => {
  const turns = createClientTurns(4);
  const end = await turns('a');
  const startMs = performance.now();
  end(100);
  for (let other = 0; other < 120; other += 1) (await turns(`other ${other}`))(0);
  await turns('a');
  expect(performance.now() - startMs).toBeGreaterThan(395);
});

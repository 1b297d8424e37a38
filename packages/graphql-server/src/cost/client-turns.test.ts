import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createClientTurns } from './client-turns.ts';

test('a client has at most one turn in a round, in the order of its requests, and others have theirs', async () => {
  const turns = createClientTurns(4);
  const rounds: string[][] = [];
  const request = async (client: string, name: string): Promise<void> => {
    await turns.next(client);
    rounds.at(-1)?.push(name);
  };
  const requests = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => request(name.slice(0, 1), name));
  while (rounds.flat().length < 5) {
    rounds.push([]);
    await nextRound();
  }
  await Promise.all(requests);
  expect(rounds.filter((names) => names.length > 0)).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']]);
});

test('a client rests for a multiple of the time for which it occupied the process, and others do not', async () => {
  const turns = createClientTurns(4);
  await turns.next('a');
  const startMs = performance.now();
  turns.occupied('a', 25);
  const order: string[] = [];
  const second = turns.next('a').then(() => order.push('a'));
  const third = turns.next('a').then(() => order.push('a'));
  await turns.next('b');
  expect(order).toEqual([]);
  await second;
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(99);
  await third;
});

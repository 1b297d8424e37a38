import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, seededRandom } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { digestBytes, LoggedIds } from './logged-ids.ts';

const digest = (byte: number): Uint8Array => new Uint8Array(digestBytes).fill(byte);

test('finds what a map would, with the first line and each body once', () => {
  const random = seededRandom(20_261_123);
  const ids = new LoggedIds();
  const expected = new Map<string, { line: number; bodies: Map<number, number>; isFound: boolean }>();
  // Ids of the same time, and ids that differ in their upper half only.
  const idOf = (): string =>
    String(
      random() < 0.5
        ? (123_456_789_012n << 22n) + BigInt(Math.floor(random() * 5_000))
        : (BigInt(Math.floor(random() * 5_000)) << 40n) + 1n,
    );
  for (let line = 1; line <= 20_000; line += 1) {
    const id = idOf();
    const known = expected.get(id);
    const { place, isRepeated } = ids.add(id, line);
    expect(isRepeated).toBe(known !== undefined);
    const entry = known ?? { line, bodies: new Map<number, number>(), isFound: false };
    expected.set(id, entry);
    if (random() < 0.5) continue;
    const body = Math.floor(random() * 3);
    ids.addBody(place, digest(body), line);
    if (!entry.bodies.has(body)) entry.bodies.set(body, line);
  }
  expect(ids.size).toBe(expected.size);
  for (const [id, entry] of expected) {
    const place = ids.find(id) ?? Number.NaN;
    expect(ids.hasBody(place)).toBe(entry.bodies.size > 0);
    expect([...ids.bodiesOf(place)].map((body) => [body.digest[0], body.line]).toReversed()).toEqual([...entry.bodies]);
    entry.isFound = random() < 0.5;
    if (entry.isFound) ids.markFound(place);
  }
  expect([...ids.notFound()]).toEqual(
    [...expected].filter(([, { isFound }]) => !isFound).map(([id, { line }]) => ({ id: BigInt(id), line })),
  );
  expect([ids.find('1'), ids.find('9223372036854775807')]).toEqual([null, null]);
  ids.add('9223372036854775807', 1);
  expect([...ids.notFound()].at(-1)?.id).toBe(9_223_372_036_854_775_807n);
});

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('300,000 ids with bodies take at most 40 MB', async () => {
  const before = usedBytes();
  const ids = new LoggedIds();
  for (let line = 1; line <= 300_000; line += 1)
    ids.addBody(ids.add(String((BigInt(line) << 22n) + 5n), line).place, digest(line), line);
  // V8 frees the buffers that it has collected beside the program.
  await eventually(() => expect(usedBytes() - before).toBeLessThan(40_000_000));
  expect(ids.size).toBe(300_000);
});

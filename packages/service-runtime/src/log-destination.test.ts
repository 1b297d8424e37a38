import { expect, test } from 'vitest';
import { createLogDestination } from './log-destination.ts';

/** A reader that accepts some bytes and then needs a pause, or that fails. */
function createReader() {
  const written: Buffer[] = [];
  let room = 0;
  let failure: string | null = null;
  return {
    text: () => Buffer.concat(written).toString(),
    accept: (bytes: number) => (room = bytes),
    fail: (code: string | null) => (failure = code),
    writeBytes: (bytes: Buffer): number => {
      if (failure !== null) throw Object.assign(new Error(failure), { code: failure });
      if (room === 0) throw Object.assign(new Error('slow'), { code: 'EAGAIN' });
      const part = bytes.subarray(0, Math.min(room, 7));
      room -= part.length;
      written.push(Buffer.from(part));
      return part.length;
    },
  };
}

function open(maxCharacters: number) {
  const reader = createReader();
  const recovered: number[] = [];
  const onRecovered = (dropped: number) => recovered.push(dropped);
  const destination = createLogDestination({ writeBytes: reader.writeBytes, onRecovered, maxCharacters });
  return { reader, recovered, destination };
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index} äöü\n`);

test('writes all lines in order to a reader that takes a few bytes at a time', async () => {
  const { reader, destination, recovered } = open(100_000);
  for (const line of lines(0, 100)) destination.write(line);
  reader.accept(50);
  await expect.poll(() => reader.text().length).toBeGreaterThan(40);
  expect(reader.text()).not.toContain('line 9');
  reader.accept(Infinity);
  await expect.poll(reader.text).toBe(lines(0, 100).join(''));
  expect([destination.dropped(), recovered]).toEqual([0, []]);
});

test('drops lines beyond its bound and reports their number once the reader has caught up', async () => {
  const { reader, destination, recovered } = open(200);
  for (const line of lines(0, 100)) destination.write(line);
  const dropped = destination.dropped();
  expect(dropped).toBeGreaterThan(50);
  expect(recovered).toEqual([]);
  reader.accept(Infinity);
  await expect.poll(() => recovered).toEqual([dropped]);
  expect(reader.text()).toBe(lines(0, 100 - dropped).join(''));

  destination.write('next\n');
  await expect.poll(reader.text).toContain('next');
  expect(recovered).toEqual([dropped]);
});

test('flushSync reports dropped lines too', () => {
  const { reader, destination, recovered } = open(200);
  for (const line of lines(0, 100)) destination.write(line);
  reader.accept(Infinity);
  destination.flushSync();
  expect(recovered).toEqual([destination.dropped()]);
});

test('drops the lines that cannot be written at all, and reports them after the next success', async () => {
  const { reader, destination, recovered } = open(100_000);
  reader.fail('EPIPE');
  for (const line of lines(0, 3)) destination.write(line);
  await expect.poll(() => destination.dropped()).toBe(3);
  reader.fail(null);
  reader.accept(Infinity);
  destination.write('next\n');
  await expect.poll(() => recovered).toEqual([3]);
  expect(reader.text()).toBe('next\n');
});

test('flushSync writes everything at once, and gives up on a reader that stalls', () => {
  const { reader, destination } = open(100_000);
  for (const line of lines(0, 20)) destination.write(line);
  reader.accept(Infinity);
  destination.flushSync();
  expect(reader.text()).toBe(lines(0, 20).join(''));

  reader.accept(0);
  destination.write('never written\n');
  destination.flushSync();
  expect(reader.text()).not.toContain('never');
});

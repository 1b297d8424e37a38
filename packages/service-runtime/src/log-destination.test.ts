import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { createLogDestination, type LineCounts } from './log-destination.ts';
import { createLogger, withLineKinds } from './logger.ts';

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
  const recovered: LineCounts[] = [];
  const onRecovered = (dropped: LineCounts) => void recovered.push(dropped);
  const budgets = { alarm: maxCharacters, security: maxCharacters, other: maxCharacters };
  const destination = createLogDestination({ writeBytes: reader.writeBytes, onRecovered, maxCharacters: budgets });
  return { reader, recovered, destination };
}

const numbered = (text: string, count: number) => Array.from({ length: count }, (_, index) => `${text} ${index}`);

const none = { alarm: 0, security: 0, other: 0 };

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index} äöü\n`);

test('writes all lines in order to a reader that takes a few bytes at a time', async () => {
  const { reader, destination, recovered } = open(100_000);
  for (const line of lines(0, 100)) destination.write(line, 'other');
  reader.accept(50);
  await expect.poll(() => reader.text().length).toBeGreaterThan(40);
  expect(reader.text()).not.toContain('line 9');
  reader.accept(Infinity);
  await expect.poll(reader.text).toBe(lines(0, 100).join(''));
  expect([destination.dropped(), recovered]).toEqual([none, []]);
});

test('drops lines beyond its bound and reports their number once the reader has caught up', async () => {
  const { reader, destination, recovered } = open(200);
  for (const line of lines(0, 100)) destination.write(line, 'other');
  const dropped = destination.dropped().other;
  expect(dropped).toBeGreaterThan(50);
  expect(recovered).toEqual([]);
  reader.accept(Infinity);
  await expect.poll(() => recovered).toEqual([{ ...none, other: dropped }]);
  expect(reader.text()).toBe(lines(0, 100 - dropped).join(''));

  destination.write('next\n', 'other');
  await expect.poll(reader.text).toContain('next');
  expect(recovered).toEqual([{ ...none, other: dropped }]);
});

test('drops no line of a kind because of lines of other kinds, and keeps the order of all', async () => {
  const { reader, destination, recovered } = open(200);
  const logger = createLogger({ name: 'test', level: 'info', service: testService }, withLineKinds(destination));
  for (let count = 0; count < 100; count += 1) destination.write(`served ${count}\n`, 'other');
  for (let count = 0; count < 100; count += 1) destination.write(`refused ${count}\n`, 'security');
  logger.error({ alarm: 'lane-stopped' }, 'alarm');
  destination.write('last\n', 'alarm');
  const { other, security, alarm } = destination.dropped();
  expect([alarm, other > 50, security > 50]).toEqual([0, true, true]);

  reader.accept(Infinity);
  await expect.poll(() => recovered).toEqual([{ alarm, security, other }]);
  const written = reader.text().split('\n');
  const [alarmLine = '', ...rest] = written.slice(200 - other - security);
  expect(written.slice(0, 200 - other - security)).toEqual([
    ...numbered('served', 100 - other),
    ...numbered('refused', 100 - security),
  ]);
  expect(JSON.parse(alarmLine)).toMatchObject({ alarm: 'lane-stopped', msg: 'alarm' });
  expect(rest).toEqual(['last', '']);
});

test('the fields of a line say its kind', () => {
  const kinds: string[] = [];
  const write = (_: string, kind: string) => void kinds.push(kind);
  const destination = { write, dropped: () => none, flushSync: () => {} };
  const logger = createLogger({ name: 'test', level: 'info', service: testService }, withLineKinds(destination));
  logger.warn({ security: true, reason: 'unknown' }, 'credentials refused');
  logger.info({ reason: '"security":true,"alarm":"x"' }, 'request');
  logger.error({ alarm: 'clock-wrong' }, 'alarm');
  logger.fatal({ err: new Error('a bug') }, 'uncaught error');
  logger.info('without fields');
  expect(kinds).toEqual(['security', 'other', 'alarm', 'alarm', 'other']);
});

test('flushSync reports dropped lines too', () => {
  const { reader, destination, recovered } = open(200);
  for (const line of lines(0, 100)) destination.write(line, 'other');
  reader.accept(Infinity);
  destination.flushSync();
  expect(recovered).toEqual([destination.dropped()]);
});

test('drops the lines that cannot be written at all, and reports them after the next success', async () => {
  const { reader, destination, recovered } = open(100_000);
  reader.fail('EPIPE');
  for (const line of lines(0, 3)) destination.write(line, 'other');
  await expect.poll(() => destination.dropped()).toEqual({ ...none, other: 3 });
  reader.fail(null);
  reader.accept(Infinity);
  destination.write('next\n', 'other');
  await expect.poll(() => recovered).toEqual([{ ...none, other: 3 }]);
  expect(reader.text()).toBe('next\n');
});

test('flushSync writes everything at once, and gives up on a reader that stalls', () => {
  const { reader, destination } = open(100_000);
  for (const line of lines(0, 20)) destination.write(line, 'other');
  reader.accept(Infinity);
  destination.flushSync();
  expect(reader.text()).toBe(lines(0, 20).join(''));

  reader.accept(0);
  destination.write('never written\n', 'other');
  destination.flushSync();
  expect(reader.text()).not.toContain('never');
});

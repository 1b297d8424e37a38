import type { Logger } from '@deedwire/service-runtime';
import type { Database } from '@deedwire/store';
import { beforeEach, expect, test } from 'vitest';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';

const start = Date.parse('2026-11-20T09:00:00.000Z');

let machine: { ms: number; wrongByMs: number };
let database: { answersInMs: number; isAway: boolean };
let alarms: object[];
let clock: DatabaseClock;

beforeEach(() => {
  machine = { ms: 0, wrongByMs: 600_000 };
  database = { answersInMs: 0, isAway: false };
  alarms = [];
  const store = {
    async query() {
      if (database.isAway) throw new Error('away');
      machine.ms += database.answersInMs / 2;
      const time = new Date(start + machine.ms);
      machine.ms += database.answersInMs / 2;
      return [{ time }];
    },
  };
  clock = createDatabaseClock({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- answers one statement
    store: store as unknown as Database,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only errors are looked at
    logger: { error: (alarm: object) => alarms.push(alarm) } as unknown as Logger,
    machine: { now: () => start + machine.ms + machine.wrongByMs, monotonicMs: () => 5_000 + machine.ms },
  });
});

const readings = () => clock.now().getTime() - start - machine.ms;

test('is the time of the database, however wrong the machine and however slow the answer', async () => {
  expect(readings()).toBe(600_000);
  database.answersInMs = 800;
  await clock.read();
  expect(readings()).toBe(0);
  machine.ms += 86_400_000;
  expect(readings()).toBe(0);
});

test('goes on when the clock of the machine is set, and while the database is away', async () => {
  await clock.read();
  machine.wrongByMs = -600_000;
  expect(readings()).toBe(0);
  database.isAway = true;
  await expect(clock.read()).rejects.toThrow('away');
  expect(readings()).toBe(0);
});

test('a wrong clock is one alarm, and another when it is wrong again', async () => {
  await clock.read();
  await clock.read();
  expect(alarms).toEqual([{ alarm: 'clock-wrong', wrongByMs: 600_000 }]);
  machine.wrongByMs = 59_000;
  await clock.read();
  machine.wrongByMs = -61_000;
  await clock.read();
  expect(alarms.slice(1)).toEqual([{ alarm: 'clock-wrong', wrongByMs: -61_000 }]);
});

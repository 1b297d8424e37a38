import type { Database } from '@deedwire/store';
import { beforeEach, expect, test } from 'vitest';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';

const start = Date.parse('2026-11-20T09:00:00.000Z');

let machine: { ms: number; wrongByMs: number };
let database: { queryMs: number; isUnavailable: boolean };
let alarms: unknown[];
let clock: DatabaseClock;

beforeEach(() => {
  machine = { ms: 0, wrongByMs: 600_000 };
  database = { queryMs: 0, isUnavailable: false };
  alarms = [];
  const store = {
    async query() {
      if (database.isUnavailable) throw new Error('unavailable');
      machine.ms += database.queryMs / 2;
      const time = new Date(start + machine.ms);
      machine.ms += database.queryMs / 2;
      return [{ time }];
    },
  };
  clock = createDatabaseClock({
    store: store as unknown as Database,
    raiseAlarm: (alarm, details) => alarms.push({ alarm, ...details }),
    machine: { now: () => start + machine.ms + machine.wrongByMs, monotonicMs: () => 5_000 + machine.ms },
  });
});

const readings = () => clock.now().getTime() - start - machine.ms;

test('follows the clock of the database, even when the machine is wrong and the query is slow', async () => {
  expect(readings()).toBe(600_000);
  database.queryMs = 800;
  await clock.read();
  expect(readings()).toBe(0);
  machine.ms += 86_400_000;
  expect(readings()).toBe(0);
});

test('continues when the clock of the machine is changed and while the database is unavailable', async () => {
  await clock.read();
  machine.wrongByMs = -600_000;
  expect(readings()).toBe(0);
  database.isUnavailable = true;
  await expect(clock.read()).rejects.toThrow('unavailable');
  expect(readings()).toBe(0);
});

test('raises one alarm each time that the clock of the machine becomes wrong', async () => {
  await clock.read();
  await clock.read();
  expect(alarms).toEqual([{ alarm: 'clock-wrong', wrongByMs: 600_000 }]);
  machine.wrongByMs = 59_000;
  await clock.read();
  machine.wrongByMs = -61_000;
  await clock.read();
  expect(alarms.slice(1)).toEqual([{ alarm: 'clock-wrong', wrongByMs: -61_000 }]);
});

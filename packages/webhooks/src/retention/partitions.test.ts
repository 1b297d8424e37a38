import { expect, test } from 'vitest';
import {
  dayOf,
  daysAhead,
  historyTables,
  isDue,
  parsePartition,
  type Partition,
  partitionedTables,
  retentionBounds,
} from './partitions.ts';

const day = (text: string): number => dayOf(new Date(text));
const everyTable = (date: string): Partition[] => partitionedTables.map((table) => ({ table, day: day(date) }));

test('reads the day from the name of a partition', () => {
  expect(parsePartition('webhook_attempt_20261120')).toEqual({ table: 'webhook_attempt', day: day('2026-11-20') });
});

test.each(['webhook_event_queue', 'webhook_attempt', 'webhook_event_2026112', 'webhook_failed_delivery_20261120'])(
  '%s is no partition',
  (name) => expect(parsePartition(name)).toBe(null),
);

test('counts the days ahead without gaps', () => {
  const today = day('2026-11-20');
  expect(daysAhead([], today)).toBe(-1);
  expect(daysAhead(everyTable('2026-11-21'), today)).toBe(-1);
  expect(daysAhead(everyTable('2026-11-20'), today)).toBe(0);
  const withGap = [...everyTable('2026-11-20'), ...everyTable('2026-11-21'), ...everyTable('2026-11-23')];
  expect(daysAhead(withGap, today)).toBe(1);
  expect(daysAhead([...withGap, ...everyTable('2026-11-22').slice(1)], today)).toBe(1);
});

test('counts the days ahead of some tables', () => {
  const withoutExchanges = everyTable('2026-11-20').filter(({ table }) => table !== 'webhook_exchange');
  expect(daysAhead(withoutExchanges, day('2026-11-20'))).toBe(-1);
  expect(daysAhead(withoutExchanges, day('2026-11-20'), historyTables)).toBe(0);
});

test('details of attempts have their own days', () => {
  const bounds = retentionBounds(new Date('2026-12-31T15:00:00Z'), { history: 30, exchanges: 7 });
  expect(isDue({ table: 'webhook_exchange', day: day('2026-12-23') }, bounds)).toBe(true);
  expect(isDue({ table: 'webhook_exchange', day: day('2026-12-24') }, bounds)).toBe(false);
  expect(isDue({ table: 'webhook_attempt', day: day('2026-12-23') }, bounds)).toBe(false);
});

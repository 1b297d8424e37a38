import { expect, test } from 'vitest';
import { dayOf } from './days.ts';
import {
  daysAhead,
  duePartitions,
  parsePartition,
  type Partition,
  partitionedTables,
  retentionBounds,
} from './partitions.ts';

const day = (text: string): number => dayOf(new Date(text));
const attached = (name: string): Partition => {
  const partition = parsePartition(name, 'attached');
  if (partition === null) throw new Error(name);
  return partition;
};
const everyTable = (date: string): Partition[] => partitionedTables.map((table) => attached(`${table}_${date}`));

test('reads the day from the name of a partition', () => {
  expect(parsePartition('webhook_attempt_20261120', 'detaching')).toEqual({
    name: 'webhook_attempt_20261120',
    table: 'webhook_attempt',
    day: day('2026-11-20'),
    state: 'detaching',
  });
});

test.each(['webhook_event_queue', 'webhook_attempt', 'webhook_event_2026112', 'webhook_failed_delivery_20261120'])(
  '%s is no partition',
  (name) => expect(parsePartition(name, 'attached')).toBe(null),
);

test('counts the days ahead without gaps', () => {
  const today = day('2026-11-20');
  expect(daysAhead([], today)).toBe(-1);
  expect(daysAhead(everyTable('20261121'), today)).toBe(-1);
  expect(daysAhead(everyTable('20261120'), today)).toBe(0);
  const withGap = [...everyTable('20261120'), ...everyTable('20261121'), ...everyTable('20261123')];
  expect(daysAhead(withGap, today)).toBe(1);
  expect(daysAhead([...withGap, ...everyTable('20261122').slice(1)], today)).toBe(1);
});

test('does not count a detached partition', () => {
  const today = day('2026-11-20');
  const partitions = everyTable('20261120').map((partition) => ({ ...partition, state: 'detaching' as const }));
  expect(daysAhead(partitions, today)).toBe(-1);
});

test('deliveries expire after the retention, and lose their bodies a day later and themselves 7 days later', () => {
  expect(retentionBounds(new Date('2026-12-31T15:00:00Z'), 30)).toEqual({
    expired: day('2026-12-01'),
    bodies: day('2026-11-30'),
    deliveries: day('2026-11-24'),
  });
});

test('drops interrupted partitions first, then the oldest, deliveries before attempts', () => {
  const bounds = retentionBounds(new Date('2026-12-31T15:00:00Z'), 30);
  const interrupted = parsePartition('webhook_attempt_20261123', 'detaching');
  const partitions = [
    ...everyTable('20261130'),
    ...everyTable('20261129'),
    ...everyTable('20261122').toReversed(),
    ...(interrupted === null ? [] : [interrupted]),
  ];
  expect(duePartitions(partitions, bounds).map(({ name }) => name)).toEqual([
    'webhook_attempt_20261123',
    'webhook_event_20261122',
    'webhook_payload_20261122',
    'webhook_delivery_20261122',
    'webhook_attempt_20261122',
    'webhook_event_20261129',
    'webhook_payload_20261129',
  ]);
});

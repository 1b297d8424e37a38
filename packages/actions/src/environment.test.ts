import { describe, expect, test } from 'vitest';
import { endingUseOf, gapsOf } from './environment.ts';

type Row = Parameters<typeof gapsOf>[0][number];

const at = (time: string): string => `2026-11-03T${time}:00.000Z`;

/** A period of a process that was ended in order. */
const row = (from: string, until: string, change: Partial<Row> = {}): Row => ({
  app: 'lender-api',
  instance: from,
  from: at(from),
  until: at(until),
  recordedAt: at(until),
  seenAt: at(until),
  state: 'ENDED',
  ...change,
});

const gap = (from: string, until: string, reason: string) => ({
  app: 'lender-api',
  from: at(from),
  until: at(until),
  reason,
});

describe('gaps', () => {
  test.each<[string, Row[], ReturnType<typeof gap>[]]>([
    ['none while a process counts', [row('08:00', '11:59', { state: 'OPEN' })], []],
    ['none between processes that overlap', [row('08:00', '10:00'), row('09:00', '11:58', { state: 'OPEN' })], []],
    [
      'while no process counts',
      [row('08:00', '09:00'), row('09:30', '10:00')],
      [gap('09:00', '09:30', 'no process counted'), gap('10:00', '12:00', 'no process counted')],
    ],
    [
      'after the last counts of a killed process, until a minute after it was seen',
      [row('08:00', '09:00', { state: 'OPEN', seenAt: at('09:05') }), row('08:00', '11:59', { state: 'OPEN' })],
      [gap('09:00', '09:06', 'a process ended without storing its counts')],
    ],
    [
      'until the counts of a process could be stored again',
      [row('08:00', '09:00', { state: 'LOST', seenAt: at('09:20') }), row('09:20', '11:59', { state: 'OPEN' })],
      [gap('09:00', '09:20', 'counts were not stored'), gap('09:00', '09:20', 'no process counted')],
    ],
    [
      'of an overflow, beside another process too',
      [row('08:00', '11:59', { state: 'OPEN' }), row('09:00', '09:01', { state: 'OVERFLOWED' })],
      [gap('09:00', '09:01', 'too many keys to count')],
    ],
    [
      'of a process that runs and cannot store its counts',
      [
        row('08:00', '11:59', { state: 'OPEN' }),
        row('08:30', '09:00', { state: 'OPEN', seenAt: at('11:59'), recordedAt: at('09:00') }),
      ],
      [gap('09:00', '12:00', 'a process ended without storing its counts')],
    ],
  ])('%s', (_, rows, gaps) => {
    expect(gapsOf(rows, new Date(at('12:00')))).toEqual(gaps);
  });
});

test('lists who pins or uses a version that ends, with the last use', () => {
  const of = { account: 'gid://service/Partner/1', interface: 'partner' };
  const counted = { ...of, version: '2026-11-01', firstDay: '2026-10-01', count: 5 };
  const pins = [
    { ...of, id: 'pinning', event: null, version: '2026-11-01' },
    { ...of, id: 'moved', event: null, version: '2027-02-01' },
    { ...of, id: 'gid://service/WebhookSubscription/2', event: 'referral.created@2026-11-01', version: null },
    { ...of, id: 'gid://service/WebhookSubscription/3', event: 'referral.created@2027-02-01', version: null },
  ];
  const uses = [
    { ...counted, client: 'moved', coordinate: null, lastDay: '2026-11-02' },
    { ...counted, client: 'moved', coordinate: 'Query.old', lastDay: '2026-11-01' },
    { ...counted, client: 'pinning', coordinate: null, lastDay: '2026-11-03' },
  ];
  const sunsets = new Map([
    ['partner@2026-11-01', '2027-06-01'],
    ['referral.created@2026-11-01', '2027-05-01'],
  ]);
  const found = endingUseOf({ pins, uses }, sunsets);
  expect(found.map(({ id, sunsetOn, isPinned, lastUsedOn }) => [id, sunsetOn, isPinned, lastUsedOn])).toEqual([
    ['gid://service/WebhookSubscription/2', '2027-05-01', true, null],
    ['moved', '2027-06-01', false, '2026-11-02'],
    ['pinning', '2027-06-01', true, '2026-11-03'],
  ]);
});

import { describe, expect, test } from 'vitest';
import { comparePage, doubtsOf, type Range, startComparison, unexpectedOf } from './completeness.ts';
import { readLog } from './receiver-log.ts';

/** A record of a second of 2026-01-01. */
const number = (second: number): string => String((BigInt(second * 1000) << 22n) + 1n);
const deliveryOf = (second: number) => `gid://service/WebhookDelivery/${number(second)}`;
const eventOf = (second: number) => `gid://service/WebhookEvent/${number(second)}`;
const payloadOf = (second: number) => JSON.stringify({ id: eventOf(second), data: second });
const at = (second: number) => Date.UTC(2026, 0, 1) + second * 1000;

interface Edge {
  second: number;
  eventSecond?: number;
  sequence?: number;
  type?: string;
  isTest?: boolean;
  payload?: string | null;
}

const pageOf = (edges: readonly Edge[], firstKeptSequence: number | null = 1, hasNextPage = false) => ({
  edges: edges.map(
    ({ second, eventSecond = second, sequence = second, type = 'order.placed', isTest = false, ...rest }) => ({
      sequence,
      node: { eventId: eventOf(eventSecond), deliveryId: deliveryOf(second), type, isTest, ...rest },
    }),
  ),
  pageInfo: { endCursor: 'cursor', hasNextPage },
  lastSequence: 9,
  firstKeptSequence,
  numberedUntil: new Date(at(1000)).toISOString(),
});

const whole: Range = { sinceMs: null, untilMs: at(1000), type: null };

const sequencesOf = (events: readonly { sequence: number }[]) => events.map(({ sequence }) => sequence);

async function compare(lines: readonly string[], page: ReturnType<typeof pageOf>, range = whole, nowMs = at(5000)) {
  const log = await readLog([lines.join('\n')]);
  const found = startComparison();
  const isLast = await comparePage(found, page, log, range);
  const { missing, altered, ...counts } = found;
  return {
    ...counts,
    isLast,
    missing: sequencesOf(missing),
    altered: sequencesOf(altered),
    ...unexpectedOf(log, found, range),
    doubts: doubtsOf(found, log, range, nowMs),
  };
}

describe('a comparison', () => {
  test('is proof if a line names each event, by either id', async () => {
    const found = await compare([deliveryOf(1), eventOf(2), deliveryOf(2)], pageOf([{ second: 1 }, { second: 2 }]));
    expect(found).toMatchObject({ compared: 2, missing: [], altered: [], unexpected: [], doubts: [], isLast: true });
  });

  test('names missing, altered and unexpected ones', async () => {
    const page = pageOf([1, 2, 3].map((second) => ({ second, payload: payloadOf(second) })));
    const log = [payloadOf(1), payloadOf(2).replace('"data":2', '"data":5'), deliveryOf(4), deliveryOf(2000)];
    expect(await compare(log, page)).toMatchObject({
      missing: [3],
      altered: [2],
      comparedBodies: 2,
      unexpected: [{ id: deliveryOf(4), line: 3 }],
      outside: 1,
    });
  });

  test('compares only the range and its type, and takes other events of the subscription for expected', async () => {
    const page = pageOf([{ second: 1 }, { second: 2, type: 'webhook.test' }, { second: 3 }], 1, true);
    const range = { sinceMs: null, untilMs: at(3), type: 'order.placed' };
    const found = await compare([deliveryOf(1), deliveryOf(2), deliveryOf(3)], page, range);
    expect(found).toMatchObject({ compared: 1, missing: [], unexpected: [], outside: 0, isLast: false });
    // The clock can be set back meanwhile.
    const last = pageOf([{ second: 1 }, { second: 603, sequence: 2 }], 1, true);
    expect(await compare([deliveryOf(1)], last, range)).toMatchObject({ isLast: true });
  });

  test('has the events that were created in the range, although they were numbered after it', async () => {
    const late = pageOf([{ second: 900, eventSecond: 2, sequence: 1 }]);
    const more = { ...late, pageInfo: { endCursor: 'cursor', hasNextPage: true } };
    const found = await compare([deliveryOf(1)], more, { ...whole, untilMs: at(3) });
    expect(found).toMatchObject({ missing: [1], isLast: false });
  });

  test('does not take what is no longer kept for unexpected', async () => {
    const found = await compare([deliveryOf(3), deliveryOf(5), deliveryOf(6)], pageOf([{ second: 5 }], 5));
    expect(found).toMatchObject({ missing: [], unexpected: [{ id: deliveryOf(6) }], outside: 1 });
  });

  test('leaves out test events that the log does not name', async () => {
    const page = pageOf([{ second: 1 }, { second: 2, isTest: true }]);
    expect(await compare([deliveryOf(1)], page)).toMatchObject({ compared: 1, tests: 1, missing: [], doubts: [] });
  });

  test.each<[string, string[], ReturnType<typeof pageOf>, Partial<Range>, RegExp]>([
    ['an empty range', [deliveryOf(1)], pageOf([]), {}, /^Nothing was compared/],
    ['no event that is kept', [deliveryOf(1)], pageOf([], null), {}, /None of its events is kept/],
    ['a late start', [deliveryOf(5)], pageOf([{ second: 5 }], 5), {}, /^Events before sequence 5 are no longer kept/],
    [
      'a late start after the range',
      [deliveryOf(1)],
      pageOf([{ second: 5 }], 5),
      { untilMs: at(2) },
      /^Events before sequence 5/,
    ],
    ['a gap', [deliveryOf(1), deliveryOf(3)], pageOf([{ second: 1 }, { second: 3 }]), {}, /^Sequences are missing/],
    [
      'events of the range that wait for their sequence',
      [deliveryOf(1)],
      pageOf([{ second: 1 }]),
      { untilMs: at(1001) },
      /^Events created since 2026-01-01 00:16:40.000 UTC can still wait/,
    ],
    [
      'an end that is too recent',
      [deliveryOf(1)],
      pageOf([{ second: 1 }]),
      { untilMs: at(4701) },
      /less than 5 minutes ago/,
    ],
    [
      'a body without a payload',
      [payloadOf(1)],
      pageOf([{ second: 1, payload: null }]),
      {},
      /^1 body could not be compared/,
    ],
    ['a body that may not be read', [payloadOf(1)], pageOf([{ second: 1 }]), {}, /^1 body could not be compared/],
    [
      'a line that is not read',
      [deliveryOf(1), 'x'],
      pageOf([{ second: 1 }]),
      {},
      /^1 line of the log could not be read. Line 2/,
    ],
  ])('is no proof with %s', async (_, log, page, range, doubt) => {
    const { doubts, missing } = await compare(log, page, { ...whole, ...range });
    expect(missing).toEqual([]);
    expect(doubts).toEqual(expect.arrayContaining([expect.stringMatching(doubt)]));
  });

  test('of a range that begins after the first event that is kept is proof', async () => {
    const range = { ...whole, sinceMs: at(6) };
    expect((await compare([deliveryOf(6)], pageOf([{ second: 6 }], 5), range)).doubts).toEqual([]);
  });
});

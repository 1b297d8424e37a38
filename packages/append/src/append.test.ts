import { defineEvent, withRenderers } from '@deedwire/core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { append } from './append.ts';
import { fromQuery } from './from-query.ts';

const released = { status: 'current', deprecatedOn: null, sunsetOn: null } as const;

const noted = withRenderers(
  defineEvent('order.noted', {
    record: { type: 'Order', id: ({ id }) => id.toUpperCase() },
    snapshot: z.object({ id: z.string(), note: z.string().default('none'), copies: z.number().default(1) }),
    sample: () => ({ id: '1', note: '', copies: 1 }),
  }),
  {
    '2026-11-01': ({ note }) => ({ note }),
    '2027-02-01': ({ note, copies }) => {
      if (note === 'unreadable') throw new TypeError('It has no page.');
      return { notes: Array.from({ length: copies }, () => note) };
    },
  },
  {
    versions: [
      { ...released, version: '2026-11-01', data: z.strictObject({ note: z.string() }) },
      { ...released, version: '2027-02-01', data: z.strictObject({ notes: z.array(z.string()).min(1) }) },
    ],
  },
);

const run: { text: string; values: readonly (string | null)[] }[] = [];
const session = fromQuery(async (text, values) => {
  run.push({ text, values });
  return [{ result: '7' }];
});

test('stores what the schema makes of the snapshot, and names the record', async () => {
  run.length = 0;
  const snapshot = { id: 'so-1', note: 'a', copies: 2, more: 'not in the schema' };
  expect(await append(session, noted, 'c-1', snapshot)).toBe('7');
  expect(run.at(-1)).toEqual({
    text: 'select "deedwire".append_event($1::text, $2::text, $3::text::json, $4::text)::text as result',
    values: ['order.noted', 'c-1', '{"id":"so-1","note":"a","copies":2}', 'SO-1'],
  });
});

test('quotes the name of another schema', async () => {
  run.length = 0;
  const other = fromQuery(
    async (text) => {
      run.push({ text, values: [] });
      return [{ result: '7' }];
    },
    { schema: 'our "shop"' },
  );
  await append(other, noted, 'c-1', { id: '1', note: '', copies: 1 });
  expect(run.at(-1)?.text).toContain('select "our ""shop""".append_event(');
});

describe('runs no statement for a snapshot', () => {
  test.each([
    ['that the schema refuses', { id: 1, note: '', copies: 1 }, 'order.noted is refused: id: Invalid input'],
    ['that a version cannot render', { id: '1', note: 'unreadable', copies: 1 }, 'its version 2027-02-01 cannot be'],
    [
      'of which one version does not match its schema',
      { id: '1', note: '', copies: 0 },
      'its version 2027-02-01 would not match its published schema: data.notes: too_small',
    ],
    ['with NUL', { id: '1', note: 'a\0', copies: 1 }, 'U+0000'],
    ['with half of a surrogate pair', { id: '1', note: 'a\uD83D', copies: 1 }, 'half of a surrogate pair'],
    [
      'of which one version exceeds the limit of a payload',
      { id: '1', note: 'é'.repeat(1_000), copies: 128 },
      'the payload of its version 2027-02-01 would have 256',
    ],
  ])('%s', async (_, snapshot, message) => {
    run.length = 0;
    const refused = append(session, noted, 'c-1', snapshot as never);
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toMatchObject({ code: 'SNAPSHOT_REFUSED' });
    expect(run).toEqual([]);
  });
});

test.each([
  ['no text', { id: undefined }, 'the id of its Order is no text'],
  ['an empty text', { id: '' }, 'the id of its Order is no text'],
  ['unreadable', null, 'the id of its Order cannot be read'],
])('runs no statement for an event whose record is %s', async (_, order, message) => {
  run.length = 0;
  const shipped = withRenderers(
    defineEvent('order.shipped', {
      // A snapshot of JavaScript, which no compiler has checked.
      record: { type: 'Order', id: ({ order: of }) => (of as { id: string }).id },
      snapshot: z.object({ order: z.unknown() }),
      sample: () => ({ order: { id: '1' } }),
    }),
    { '2026-11-01': () => ({}) },
  );
  await expect(append(session, shipped, 'c-1', { order })).rejects.toThrow(message);
  expect(run).toEqual([]);
});

test.each(['c\0', 'c\uD83D'])('names no account by %j, which a driver would change', async (account) => {
  run.length = 0;
  const refused = append(session, noted, account, { id: '1', note: '', copies: 1 });
  await expect(refused).rejects.toThrow('account has the character U+0000 or half of a surrogate pair.');
  expect(run.filter(({ text }) => text.includes('append_event'))).toEqual([]);
});

// A program in JavaScript, which no compiler has checked.
test.each([
  [[session, noted, 7], 'account must be a string, not number. Pass String(account).'],
  [[session, noted], 'account must be a string, not undefined.'],
  [[{ query: () => [] }, noted, 'c-1'], 'such as fromPg(client).'],
  [[session, 'order.noted', 'c-1'], 'Pass the event that defineEvent() has returned.'],
])('names what a program passes wrongly (%#)', async ([given, event, account], message) => {
  run.length = 0;
  const refused: Promise<unknown> = Reflect.apply(append, null, [given, event, account, { id: '1' }]);
  await expect(refused).rejects.toThrow(message);
  expect(run.filter(({ text }) => text.includes('append_event'))).toEqual([]);
});

test('accepts a text that looks like an escape', async () => {
  for (const note of [String.raw`\u0000`, String.raw`\\ud83d`, '🏡', '\u0001'])
    await expect(append(session, noted, 'c-1', { id: '1', note, copies: 1 })).resolves.toBe('7');
});

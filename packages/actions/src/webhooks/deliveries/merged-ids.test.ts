import { toRecordId } from '@deedwire/core';
import { seededRandom } from '@deedwire/testing';
import { expect, test } from 'vitest';
import type { EventIdRow } from './delivery-ids.ts';
import { mergeIds, type ReadIds } from './pages.ts';

const subscriptionIds = ['1', '2', '3', '4'].map((id) => toRecordId<'WebhookSubscription'>(id));
const range = { min: 1_000n, before: 1_000_000n };

test('returns each delivery of the range once, newest first, whatever the rows of a statement', async () => {
  const random = seededRandom(27);
  for (let round = 0; round < 200; round += 1) {
    const stored = new Map<string, EventIdRow>();
    const count = Math.floor(random() * 120);
    for (let n = 0; n < count; n += 1) {
      const id = toRecordId<'WebhookDelivery'>(String(900 + Math.floor(random() * 400)));
      const subscriptionId = subscriptionIds[Math.floor(random() ** 3 * 4)] ?? subscriptionIds[0];
      if (subscriptionId) stored.set(id, { id, subscriptionId, eventType: 'a', eventId: null });
    }
    const rowsPerStatement = 1 + Math.floor(random() * 40);
    let statements = 0;
    const read: ReadIds<EventIdRow> = async (positions, { min, before }, limit) => {
      statements += 1;
      return positions.flatMap((position) =>
        [...stored.values()]
          .filter(({ id, subscriptionId }) => subscriptionId === position.subscriptionId && BigInt(id) >= min)
          .filter(({ id }) => BigInt(id) < before && BigInt(id) < position.before)
          .toSorted((a, b) => Number(b.id) - Number(a.id))
          .slice(0, limit),
      );
    };
    const found: string[] = [];
    for await (const { id } of mergeIds(read, subscriptionIds, range, rowsPerStatement)) found.push(id);
    const wanted = [...stored.keys()].filter((id) => Number(id) >= 1_000).toSorted((a, b) => Number(b) - Number(a));
    expect(found).toEqual(wanted);
    expect(statements).toBeLessThanOrEqual(1 + 4 + wanted.length);
  }
});

test('reads a subscription again only when nothing is left of it', async () => {
  const reads: string[][] = [];
  const read: ReadIds<EventIdRow> = async (positions, _, limit) => {
    reads.push(positions.map(({ subscriptionId }) => subscriptionId));
    return positions.flatMap(({ subscriptionId, before }) => {
      const isBusy = subscriptionId === '1';
      const rows = Array.from({ length: limit }, (__, n) => before - 1n - BigInt(n));
      return rows
        .filter((id) => (isBusy ? id >= 999_000n : id === 999_999n - BigInt(subscriptionId) * 100n))
        .map((id) => ({
          id: toRecordId<'WebhookDelivery'>(String(id)),
          subscriptionId,
          eventType: 'a',
          eventId: null,
        }));
    });
  };
  let found = 0;
  for await (const row of mergeIds(read, subscriptionIds.slice(0, 1), range, 400)) found += row.id === '' ? 0 : 1;
  expect([found, reads]).toEqual([1_000, [['1'], ['1'], ['1']]]);
});

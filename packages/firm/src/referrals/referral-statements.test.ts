import { toRecordId } from '@deedwire/core';
import type { Database, Statement } from '@deedwire/store';
import { expect, test } from 'vitest';
import { type ClosedPosition, selectClosedReferrals, selectReferrals } from './referral-statements.ts';

const time = new Date('2026-11-01T00:00:00Z');
const end: ClosedPosition = { closedAt: time, id: toRecordId('1') };

/** The statements of every combination of filters. */
async function statements(): Promise<Statement[]> {
  const sent: Statement[] = [];
  const databaseOf = (compared: readonly ClosedPosition[]): Database => ({
    async query<Row>(statement: Statement): Promise<Row[]> {
      sent.push(statement);
      return (statement.name.startsWith('select-end-of') ? compared : []) as Row[];
    },
  });
  const choices = [null, time];
  for (const status of [null, 'OPEN', 'CONVERTED', 'DECLINED'] as const)
    for (const externalReference of [null, 'x'])
      for (const createdFrom of choices)
        for (const createdBefore of choices) {
          const filter = {
            accountId: toRecordId<'Account'>('1'),
            status,
            externalReference,
            createdFrom,
            createdBefore,
          };
          await selectReferrals(databaseOf([]), filter, { afterId: null, limit: 2 });
          for (const compared of [[], [end]])
            await selectClosedReferrals(
              databaseOf(compared),
              { ...filter, closedFrom: time },
              { after: null, limit: 2 },
            );
        }
  return sent;
}

test('each text has its own name, which PostgreSQL does not truncate', async () => {
  const texts = Map.groupBy(await statements(), ({ name }) => name);
  for (const [name, { length }] of texts) expect([length > 0, name.length]).toEqual([true, Math.min(name.length, 63)]);
  for (const sent of texts.values()) expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
});

import type { AccountId } from '@deedwire/core';
import { type SharedWrite, sql } from '../../src/index.ts';

const insert = sql('insert-orders')`
  insert into customer_order (id, account_id, item)
  select * from unnest($1::bigint[], $2::bigint[], $3::text[])`;

/** A write of one order, which answers with its name. PostgreSQL refuses a name that is null. */
export function orderWrite(
  accountId: AccountId,
  name: string | null,
  { notify = [] as string[], ...more }: Partial<SharedWrite<string>> & { notify?: string[] } = {},
): SharedWrite<string> {
  return {
    accountId,
    clientId: 'client',
    operation: {},
    key: null,
    ids: 1,
    rows: ({ ids: [id = ''] }) => ({
      rows: [{ into: insert, values: [id, accountId, name] }],
      answer: String(name),
      saved: () => ({ payload: { name }, secretCiphertext: null, recordId: null }),
      notify,
    }),
    ...more,
  };
}

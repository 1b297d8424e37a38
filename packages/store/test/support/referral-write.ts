import type { AccountId } from '@deedwire/core';
import { type SharedWrite, sql } from '../../src/index.ts';

const insert = sql('insert-referrals')`
  insert into referral (id, account_id, client_name)
  select * from unnest($1::bigint[], $2::bigint[], $3::text[])`;

/** A write of one referral, which answers with its name. PostgreSQL refuses a name that is null. */
export function referralWrite(
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

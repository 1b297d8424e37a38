import { type AccountId, toRecordId } from '@deedwire/domain';
import type { SharedWrite } from '../../src/index.ts';
import { referralRow } from '../../src/referrals.ts';

/** A write of one referral, which answers with its name. PostgreSQL refuses a name that is null. */
export function referralWrite(
  accountId: AccountId,
  name: string | null,
  { notify = [] as string[], ...more }: Partial<SharedWrite<string>> & { notify?: string[] } = {},
): SharedWrite<string> {
  const details = { clientName: name as string, clientEmail: null, externalReference: null, note: null };
  return {
    accountId,
    clientId: 'client',
    operation: {},
    key: null,
    ids: 1,
    rows: ({ ids: [id = ''] }) => ({
      rows: [referralRow(toRecordId(id), accountId, details)],
      answer: String(name),
      saved: () => ({ payload: { name }, secretCiphertext: null, recordId: null }),
      notify,
    }),
    ...more,
  };
}

import type { AccountId, RecordId, ReferralDetails, ReferralStatus } from '@deedwire/domain';
import { readsPage, type PageQuery } from './page-query.ts';
import { firstRow, onlyRow, type Database } from './store.ts';

/** A referral with the matter that it was converted into. The matter's columns are null unless it was. */
export interface ReferralRow {
  id: RecordId<'Referral'>;
  account_id: AccountId;
  status: ReferralStatus;
  client_name: string;
  client_email: string | null;
  external_reference: string | null;
  note: string | null;
  created_at: Date;
  closed_at: Date | null;
  matter_id: RecordId<'Matter'> | null;
  matter_reference: string | null;
  matter_opened_at: Date | null;
}

export async function insertReferral(
  database: Database,
  accountId: AccountId,
  details: ReferralDetails,
): Promise<ReferralRow> {
  const statement = {
    name: 'insert-referral',
    text: `
      insert into referral (account_id, client_name, client_email, external_reference, note)
      values ($1, $2, $3, $4, $5)
      returning id, account_id, status, client_name, client_email, external_reference, note, created_at, closed_at,
        null::bigint as matter_id, null::text as matter_reference, null::timestamptz as matter_opened_at`,
  };
  return onlyRow(
    await database.query<ReferralRow>(statement, [
      accountId,
      details.clientName,
      details.clientEmail,
      details.externalReference,
      details.note,
    ]),
  );
}

const selectFromReferrals = `
  select r.id, r.account_id, r.status, r.client_name, r.client_email, r.external_reference, r.note, r.created_at,
    r.closed_at, m.id as matter_id, m.reference as matter_reference, m.opened_at as matter_opened_at
  from referral r
  left join matter m on m.referral_id = r.id`;

/** A referral of this account. Served by referral_pkey and matter_referral_id_key. */
export async function selectReferral(
  database: Database,
  accountId: AccountId,
  id: RecordId<'Referral'>,
): Promise<ReferralRow | null> {
  const statement = {
    name: 'select-referral',
    text: `
      ${selectFromReferrals}
      where r.id = $2 and r.account_id = $1`,
  };
  return firstRow(await database.query<ReferralRow>(statement, [accountId, id]));
}

/** Newest first. Served by referral_by_account or, with a status, by referral_by_account_and_status. */
export async function selectReferrals(
  database: Database,
  filter: { accountId: AccountId; status: ReferralStatus | null },
  page: PageQuery<'Referral'>,
): Promise<ReferralRow[]> {
  const statement = {
    name: filter.status === null ? 'select-referrals' : 'select-referrals-by-status',
    text: `
      ${selectFromReferrals}
      where ${filter.status === null ? '' : 'r.status = $4 and'} ${readsPage(['r.account_id', '$1'], 'r.id', '$2')}
      limit $3`,
  };
  const values = [filter.accountId, page.behindId, page.limit];
  return database.query<ReferralRow>(statement, filter.status === null ? values : [...values, filter.status]);
}

/** Holds a referral until the transaction ends. Served by referral_pkey. */
export async function lockReferral(
  database: Database,
  id: RecordId<'Referral'>,
): Promise<{
  id: RecordId<'Referral'>;
  account_id: AccountId;
  status: ReferralStatus;
  external_reference: string | null;
} | null> {
  const statement = {
    name: 'lock-referral',
    text: 'select id, account_id, status, external_reference from referral where id = $1 for update',
  };
  return firstRow(
    await database.query<{
      id: RecordId<'Referral'>;
      account_id: AccountId;
      status: ReferralStatus;
      external_reference: string | null;
    }>(statement, [id]),
  );
}

/** Served by referral_pkey. */
export async function closeReferral(
  database: Database,
  id: RecordId<'Referral'>,
  close: { status: 'CONVERTED' | 'DECLINED'; reason: string | null },
): Promise<{ closed_at: Date }> {
  const statement = {
    name: 'close-referral',
    text: `
      update referral
      set status = $2, decline_reason = $3, closed_at = now()
      where id = $1
      returning closed_at`,
  };
  return onlyRow(await database.query<{ closed_at: Date }>(statement, [id, close.status, close.reason]));
}

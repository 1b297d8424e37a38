import type { AccountId, RecordId, ReferralDetails, ReferralStatus } from '@deedwire/domain';
import { keysetConditions, type PageQuery } from './page-query.ts';
import { firstRow, onlyRow, type Database } from './store.ts';

/** A referral and its matter. The fields of the matter are null unless the referral was converted. */
export interface ReferralRow {
  id: RecordId<'Referral'>;
  accountId: AccountId;
  status: ReferralStatus;
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
  note: string | null;
  createdAt: Date;
  closedAt: Date | null;
  matterId: RecordId<'Matter'> | null;
  matterReference: string | null;
  matterOpenedAt: Date | null;
}

const referralColumns = (table: string): string => `
  ${table}.id, ${table}.account_id as "accountId", ${table}.status, ${table}.client_name as "clientName",
  ${table}.client_email as "clientEmail", ${table}.external_reference as "externalReference", ${table}.note,
  ${table}.created_at as "createdAt", ${table}.closed_at as "closedAt"`;

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
      returning ${referralColumns('referral')},
        null::bigint as "matterId", null::text as "matterReference", null::timestamptz as "matterOpenedAt"`,
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
  select ${referralColumns('r')},
    m.id as "matterId", m.reference as "matterReference", m.opened_at as "matterOpenedAt"
  from referral r
  left join matter m on m.referral_id = r.id`;

/** A referral of the account. Served by referral_pkey and matter_referral_id_key. */
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

/** Newest first. Served by referral_by_account, or by referral_by_account_and_status if a status is given. */
export async function selectReferrals(
  database: Database,
  filter: { accountId: AccountId; status: ReferralStatus | null },
  page: PageQuery<'Referral'>,
): Promise<ReferralRow[]> {
  const statement = {
    name: filter.status === null ? 'select-referrals' : 'select-referrals-by-status',
    text: `
      ${selectFromReferrals}
      where ${filter.status === null ? '' : 'r.status = $4 and'} ${keysetConditions(['r.account_id', '$1'], 'r.id', '$2')}
      limit $3`,
  };
  const values = [filter.accountId, page.afterId, page.limit];
  return database.query<ReferralRow>(statement, filter.status === null ? values : [...values, filter.status]);
}

export type LockedReferralRow = Pick<ReferralRow, 'id' | 'accountId' | 'status' | 'externalReference'>;

/** Locks a referral until the transaction ends. Served by referral_pkey. */
export async function lockReferral(database: Database, id: RecordId<'Referral'>): Promise<LockedReferralRow | null> {
  const statement = {
    name: 'lock-referral',
    text: `
      select id, account_id as "accountId", status, external_reference as "externalReference"
      from referral
      where id = $1
      for update`,
  };
  return firstRow(await database.query<LockedReferralRow>(statement, [id]));
}

/** Served by referral_pkey. */
export async function closeReferral(
  database: Database,
  id: RecordId<'Referral'>,
  close: { status: 'CONVERTED' | 'DECLINED'; reason: string | null },
): Promise<{ closedAt: Date }> {
  const statement = {
    name: 'close-referral',
    text: `
      update referral
      set status = $2, decline_reason = $3, closed_at = now()
      where id = $1
      returning closed_at as "closedAt"`,
  };
  return onlyRow(await database.query<{ closedAt: Date }>(statement, [id, close.status, close.reason]));
}

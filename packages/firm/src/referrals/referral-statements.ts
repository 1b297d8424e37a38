import { type AccountId, nearestIdAt, type RecordId } from '@deedwire/core';
import { firstRow, onlyRow, type Database, type InsertedRow, type PageQuery, sql } from '@deedwire/store';
import { type ReferralDetails, type ReferralStatus, referralStatuses } from './referral.ts';

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

const insertReferrals = sql('insert-referrals')`
    insert into referral (id, account_id, client_name, client_email, external_reference, note)
    select id, account_id, client_name, client_email, external_reference, note
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
      as r (id, account_id, client_name, client_email, external_reference, note)`;

/** The row of a new, open referral. */
export function referralRow(id: RecordId<'Referral'>, accountId: AccountId, details: ReferralDetails): InsertedRow {
  const { clientName, clientEmail, externalReference, note } = details;
  return { into: insertReferrals, values: [id, accountId, clientName, clientEmail, externalReference, note] };
}

const selectFromReferrals = `
  select ${referralColumns('r')},
    m.id as "matterId", m.reference as "matterReference", m.opened_at as "matterOpenedAt"
  from referral r
  left join matter m on m.referral_id = r.id`;

/** A referral of the account. Served by referral_pkey and matter_by_referral. */
export async function selectReferral(
  database: Database,
  accountId: AccountId,
  id: RecordId<'Referral'>,
): Promise<ReferralRow | null> {
  const statement = sql('select-referral')`
      ${selectFromReferrals}
      where r.id = $2 and r.account_id = $1`;
  return firstRow(await database.query<ReferralRow>(statement, [accountId, id]));
}

/** In any order, without those of another account. Served by referral_pkey and matter_by_referral. */
export async function selectReferralsById(
  database: Database,
  accountId: AccountId,
  ids: readonly RecordId<'Referral'>[],
): Promise<ReferralRow[]> {
  const statement = sql('select-referrals-by-id')`
      ${selectFromReferrals}
      where r.id = any ($2::bigint[]) and r.account_id = $1`;
  return database.query<ReferralRow>(statement, [accountId, ids]);
}

/** The referrals of an account, of one status, with one reference, created in a period. Null does not restrict them. */
export interface ReferralFilter {
  accountId: AccountId;
  status: ReferralStatus | null;
  externalReference: string | null;
  /** Created at this time or later. */
  createdFrom: Date | null;
  createdBefore: Date | null;
}

/**
 * Newest first. Served by referral_by_reference if a reference is given, otherwise by referral_by_account_and_status or
 * referral_by_account.
 */
export async function selectReferrals(
  database: Database,
  filter: ReferralFilter,
  page: PageQuery<'Referral'>,
): Promise<ReferralRow[]> {
  const { accountId, status, externalReference } = filter;
  const values: unknown[] = [accountId, page.limit, page.afterId];
  const conditions = [`id < coalesce($3::bigint, ${largestId})`, ...createdConditions(filter, values)];
  if (externalReference !== null) conditions.push(`external_reference = $${values.push(externalReference)}`);
  const of = externalReference === null || status !== null ? [status] : referralStatuses;
  const text = withMatters(inOrder(of, conditions, 'account_id desc, id desc', '$2'), 'account_id desc, id desc');
  const name = nameOf('select-referrals', filter);
  return database.query<ReferralRow>({ name, text, planning: 'in-index-order' }, values);
}

/** A place in the list of closed referrals. */
export interface ClosedPosition {
  closedAt: Date;
  id: RecordId<'Referral'>;
}

/** A page of closed referrals. */
export interface ClosedPage {
  rows: ReferralRow[];
  /** The last referral that was compared, if the page is short and others can follow. Otherwise null. */
  readTo: ClosedPosition | null;
}

/**
 * Those that were closed at `closedFrom` or later, in the order in which they were closed. Served by referral_by_closing, or by
 * referral_by_reference_and_closing if a reference is given.
 *
 * The entries of the index do not have the order of a period of creation, so a page compares at most 170 referrals with it. No
 * referral is closed before it was created, so that they start at the period.
 *
 * @param page.after only referrals after this one in the list. Null starts at the beginning.
 */
export async function selectClosedReferrals(
  database: Database,
  filter: ReferralFilter & { closedFrom: Date },
  page: { after: ClosedPosition | null; limit: number },
): Promise<ClosedPage> {
  const { accountId, status, externalReference, closedFrom, createdFrom, createdBefore } = filter;
  if (status === 'OPEN') return { rows: [], readTo: null };
  const closed = status === null ? (['CONVERTED', 'DECLINED'] as const) : [status];
  const from = createdFrom !== null && createdFrom > closedFrom ? createdFrom : closedFrom;
  const after = page.after !== null && page.after.closedAt >= from ? page.after : { closedAt: from, id: '0' };
  const values: unknown[] = [accountId, page.limit, after.closedAt, after.id];
  const conditions = [
    // Shows that `closed_at` is not null, which the index requires.
    'closed_at >= $3::timestamptz',
    '(closed_at, id) > ($3::timestamptz, $4::bigint)',
  ];
  if (externalReference !== null) conditions.push(`external_reference = $${values.push(externalReference)}`);
  const name = nameOf('select-closed-referrals', filter);
  if (createdFrom !== null || createdBefore !== null) {
    const text = comparedPage(
      inOrder(closed, conditions, orderOfClosing, comparedMax),
      createdConditions(filter, values),
    );
    const found = await database.query<ComparedRow>({ name, text, planning: 'in-index-order' }, values);
    const rows = found.filter((row): row is FoundRow => row.id !== null);
    return { rows, readTo: rows.length < page.limit ? endOf(found) : null };
  }
  const text = withMatters(inOrder(closed, conditions, orderOfClosing, '$2'), orderOfClosing);
  return {
    rows: await database.query<ReferralRow>({ name, text, planning: 'in-index-order' }, values),
    readTo: null,
  };
}

const orderOfClosing = 'account_id, closed_at, id';

// Each costs a buffer, because the policy of the table reads a column that no index has, and a row of the page costs three more.
const comparedMax = 170;

/** The last referral that was compared, if others can follow. */
interface EndOfCompared {
  endClosedAt: Date | null;
  endId: RecordId<'Referral'> | null;
}

type FoundRow = ReferralRow & EndOfCompared;
/** The first row has no referral if none was found. */
type ComparedRow = FoundRow | ({ id: null } & EndOfCompared);

function endOf([row]: readonly ComparedRow[]): ClosedPosition | null {
  if (row === undefined || row.endClosedAt === null || row.endId === null) return null;
  return { closedAt: row.endClosedAt, id: row.endId };
}

/** The page of at most `$2` of the `compared` referrals that match, and the end of them. */
function comparedPage(compared: string, conditions: readonly string[]): string {
  return `
    with compared as materialized ${compared},
    page as (
      select *
      from compared
      where ${conditions.join(' and ')}
      order by closed_at, id
      limit $2
    )
    select e.closed_at as "endClosedAt", e.id as "endId", ${referralColumns('r')},
      m.id as "matterId", m.reference as "matterReference", m.opened_at as "matterOpenedAt"
    from (select 1) one
    left join (
      select closed_at, id
      from compared
      order by closed_at, id
      offset ${comparedMax - 1}
    ) e on true
    left join page r on true
    left join matter m on m.referral_id = r.id
    order by r.closed_at, r.id`;
}

/** The text of a list depends on its filter, and a connection prepares one text for a name. PostgreSQL reads 63 characters of it. */
function nameOf(list: string, { status, externalReference, createdFrom, createdBefore }: ReferralFilter): string {
  const parts = [
    status === null ? '' : `-${status.toLowerCase()}`,
    externalReference === null ? '' : '-reference',
    createdFrom === null ? '' : '-from',
    createdBefore === null ? '' : '-before',
  ];
  return list + parts.join('');
}

/**
 * Referrals of the account `$1` in order. An index returns those of each status in this order, and PostgreSQL merges them.
 *
 * `account_id = any (array[…])` keeps it from scanning the referrals of all accounts: see `pageConditions`. The order and the
 * limit of each status keep it from sorting them: it does not move the order into the branches of a union.
 *
 * @param of null for all statuses in one scan
 */
function inOrder(
  of: readonly (ReferralStatus | null)[],
  conditions: readonly string[],
  order: string,
  limit: number | '$2',
): string {
  const branches = of.map(
    (status) => `(
        select *
        from referral
        where account_id = any (array[$1::bigint]) ${status === null ? '' : `and status = '${status}'`}
          and ${conditions.join(' and ')}
        order by ${order}
        limit ${limit}
      )`,
  );
  // PostgreSQL plans each level of a query, even if it adds nothing.
  if (branches.length === 1) return branches.join('');
  return `(
      select *
      from (${branches.join(' union all ')}) branch
      order by ${order}
      limit ${limit}
    )`;
}

/** The referrals of a page with their matters. */
function withMatters(page: string, order: string): string {
  return `
    select ${referralColumns('r')},
      m.id as "matterId", m.reference as "matterReference", m.opened_at as "matterOpenedAt"
    from ${page} r
    left join matter m on m.referral_id = r.id
    order by r.${order.replaceAll(', ', ', r.')}`;
}

const largestId = 2n ** 63n - 1n;

/**
 * `created_at` is the start of a transaction, and its first statement draws the id. The server ends transactions that wait for
 * this long for a statement: see `backgroundTimeouts`.
 */
const createdToIdMs = 10_000;

/** The conditions of a period of creation, with the bounds of the ids, which the indexes contain. Adds their values. */
function createdConditions({ createdFrom, createdBefore }: ReferralFilter, values: unknown[]): string[] {
  const conditions: string[] = [];
  if (createdFrom !== null) {
    const firstId = nearestIdAt(new Date(createdFrom.getTime() - createdToIdMs));
    conditions.push(`created_at >= $${values.push(createdFrom)}`, `id >= $${values.push(firstId)}`);
  }
  if (createdBefore !== null) {
    const lastId = nearestIdAt(new Date(createdBefore.getTime() + createdToIdMs));
    conditions.push(`created_at < $${values.push(createdBefore)}`, `id < $${values.push(lastId)}`);
  }
  return conditions;
}

export type LockedReferralRow = Pick<ReferralRow, 'id' | 'accountId' | 'status' | 'externalReference'>;

/** Locks a referral until the transaction ends. Served by referral_pkey. */
export async function lockReferral(database: Database, id: RecordId<'Referral'>): Promise<LockedReferralRow | null> {
  const statement = sql('lock-referral')`
      select id, account_id as "accountId", status, external_reference as "externalReference"
      from referral
      where id = $1
      for update`;
  return firstRow(await database.query<LockedReferralRow>(statement, [id]));
}

/** Served by referral_pkey. */
export async function closeReferral(
  database: Database,
  id: RecordId<'Referral'>,
  close: { status: 'CONVERTED' | 'DECLINED'; reason: string | null },
): Promise<{ closedAt: Date }> {
  const statement = sql('close-referral')`
      update referral
      set status = $2, decline_reason = $3, closed_at = now()
      where id = $1
      returning closed_at as "closedAt"`;
  return onlyRow(await database.query<{ closedAt: Date }>(statement, [id, close.status, close.reason]));
}

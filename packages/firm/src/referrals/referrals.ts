import { type ActionContext, type Caller, InvalidArgumentError, type Page, type PageRequest } from '@deedwire/actions';
import {
  findAccount,
  keysetPage,
  type ListOrder,
  orderOfIds,
  readPageRequest,
  toPage,
} from '@deedwire/actions/use-case';
import { formatGid, parseGid, parseRecordId } from '@deedwire/core';
import {
  type ClosedPosition,
  type ReferralRow,
  selectClosedReferrals,
  selectReferral,
  selectReferrals,
  selectReferralsById,
} from './referral-statements.ts';
import type { ReferralStatus } from './referral.ts';

/** `Matter` of the partner interface. */
export interface Matter {
  id: string;
  reference: string;
  openedAt: Date;
}

/** `Referral` of the partner interface. */
export interface Referral extends Omit<
  ReferralRow,
  'accountId' | 'id' | 'matterId' | 'matterOpenedAt' | 'matterReference'
> {
  id: string;
  /** Null unless the referral was converted. */
  matter: Matter | null;
}

function toReferral(gidNamespace: string, row: ReferralRow): Referral {
  return {
    id: formatGid(gidNamespace, 'Referral', row.id),
    status: row.status,
    clientName: row.clientName,
    clientEmail: row.clientEmail,
    externalReference: row.externalReference,
    note: row.note,
    createdAt: row.createdAt,
    closedAt: row.closedAt,
    matter:
      row.matterId === null || row.matterReference === null || row.matterOpenedAt === null
        ? null
        : {
            id: formatGid(gidNamespace, 'Matter', row.matterId),
            reference: row.matterReference,
            openedAt: row.matterOpenedAt,
          },
  };
}

/** A referral of the caller. Null if the caller has no referral with this identifier. */
export async function findReferral(context: ActionContext, caller: Caller, gid: string): Promise<Referral | null> {
  const id = parseGid(context.gidNamespace, 'Referral', gid);
  const row = id === null ? null : await selectReferral(context.store, caller.accountId, id);
  return row === null ? null : toReferral(context.gidNamespace, row);
}

const idsMax = 100;

/**
 * Referrals of the caller, read with one statement.
 *
 * @returns one for each identifier, in the same order. Null if the caller has no referral with this identifier.
 * @throws {InvalidArgumentError} for more than 100 identifiers
 */
export async function findReferrals(
  context: ActionContext,
  caller: Caller,
  gids: readonly string[],
): Promise<(Referral | null)[]> {
  if (gids.length > idsMax) {
    throw new InvalidArgumentError(`\`ids\` can contain at most ${idsMax} identifiers; it contains ${gids.length}.`);
  }
  const ids = gids.map((gid) => parseGid(context.gidNamespace, 'Referral', gid));
  const known = ids.filter((id) => id !== null);
  if (known.length === 0) return ids.map(() => null);
  const rows = await selectReferralsById(context.store, caller.accountId, known);
  const byId = new Map(rows.map((row) => [row.id, toReferral(context.gidNamespace, row)]));
  return ids.map((id) => (id === null ? null : (byId.get(id) ?? null)));
}

/** A filter that is null or undefined does not restrict the list. */
export interface ReferralsRequest extends PageRequest {
  status?: ReferralStatus | null | undefined;
  externalReference?: string | null | undefined;
  /** Created at this time or later. */
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
  /** Closed at this time or later. */
  closedAfter?: Date | null | undefined;
}

const newestFirst = orderOfIds<'Referral'>('referrals', '`referrals` without `closedAfter`');

const inOrderOfClosing: ListOrder<Pick<ReferralRow, 'closedAt' | 'id'>, ClosedPosition> = {
  name: 'referralsByClosing',
  description: '`referrals` with `closedAfter`',
  write: ({ closedAt, id }) => `${closedAt?.getTime()}:${id}`,
  read(text) {
    const [, ms = '', number = ''] = /^(\d{1,15}):(\d+)$/.exec(text) ?? [];
    const id = parseRecordId<'Referral'>(number);
    return id === null ? null : { closedAt: new Date(Number(ms)), id };
  },
};

/**
 * The caller's referrals, newest first. With `closedAfter` those that were closed, in the order in which they were; together
 * with a period of creation, a page can be short.
 */
export async function listReferrals(
  context: ActionContext,
  caller: Caller,
  request: ReferralsRequest,
): Promise<Page<Referral>> {
  const filter = {
    accountId: caller.accountId,
    status: request.status ?? null,
    externalReference: request.externalReference ?? null,
    createdFrom: request.createdAfter ?? null,
    createdBefore: request.createdBefore ?? null,
  };
  const toNode = (row: ReferralRow): Referral => toReferral(context.gidNamespace, row);
  const closedFrom = request.closedAfter ?? null;
  if (closedFrom === null)
    return keysetPage(
      newestFirst,
      request,
      ({ after, limit }) => selectReferrals(context.store, filter, { afterId: after, limit }),
      toNode,
    );
  const page = readPageRequest(inOrderOfClosing, request);
  const { rows, readTo } = await selectClosedReferrals(context.store, { ...filter, closedFrom }, page);
  return toPage(inOrderOfClosing, request, rows, toNode, readTo);
}

/**
 * The referrals of a partner, newest first.
 *
 * @param request.status null for referrals of any status
 * @throws {RefusedError} `NOT_FOUND` if the partner does not exist
 */
export async function listReferralsOfPartner(
  context: ActionContext,
  request: PageRequest & { partnerId: string; status: ReferralStatus | null },
): Promise<Page<Referral>> {
  const account = await findAccount(context, 'partner', request.partnerId);
  const all = { externalReference: null, createdFrom: null, createdBefore: null };
  const filter = { ...all, accountId: account.id, status: request.status };
  return keysetPage(
    newestFirst,
    request,
    ({ after, limit }) => selectReferrals(context.store, filter, { afterId: after, limit }),
    (row) => toReferral(context.gidNamespace, row),
  );
}

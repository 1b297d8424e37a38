import {
  canCloseReferral,
  describeLength,
  formatGid,
  formatMatterReference,
  isDeclineReason,
  parseGid,
  parseRecordId,
  type ReferralStatus,
} from '@deedwire/domain';
import { referralConverted, referralDeclined } from '@deedwire/firm';
import type { Transaction } from '@deedwire/store';
import { insertMatter, reserveMatterNumber } from '@deedwire/store/matters';
import {
  type ClosedPosition,
  closeReferral,
  type LockedReferralRow,
  lockReferral,
  type ReferralRow,
  selectClosedReferrals,
  selectReferral,
  selectReferrals,
  selectReferralsById,
} from '@deedwire/store/referrals';
import { findAccount } from './accounts.ts';
import { appendEvent } from './append-event.ts';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, OperatorContext } from './context.ts';
import { InvalidArgumentError, RefusedError } from './errors.ts';
import {
  keysetPage,
  type ListOrder,
  orderOfIds,
  type Page,
  type PageRequest,
  readPageRequest,
  toPage,
} from './page.ts';

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

const newestFirst = orderOfIds('referrals', '`referrals` without `closedAfter`');

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

/**
 * Converts an open referral into a matter. Appends `referral.converted`.
 *
 * @throws {RefusedError} `NOT_FOUND` if the referral does not exist, `CONFLICT` if it is closed
 */
export async function convertReferral(
  context: OperatorContext,
  input: { referralId: string },
): Promise<{ referralId: string; matterId: string }> {
  const matterId = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'CONVERTED', reason: null });
    const reserved = await reserveMatterNumber(transaction);
    const { openedAt } = reserved;
    const reference = formatMatterReference(reserved);
    const { id } = await insertMatter(transaction, referral.id, { reference, openedAt });
    const matterGid = formatGid(context.gidNamespace, 'Matter', id);
    const account = { id: referral.accountId, interfaceName: 'partner' } as const;
    await appendEvent(transaction, account, referralConverted, referral.id, {
      referral: { id: input.referralId, status: 'CONVERTED', externalReference: referral.externalReference },
      matter: { id: matterGid, reference, openedAt: openedAt.toISOString() },
      convertedAt: closedAt.toISOString(),
    });
    await appendAuditEntry(transaction, context.operator, {
      action: 'referral.convert',
      subject: input.referralId,
      account,
      details: { matterId: matterGid },
    });
    return matterGid;
  });
  return { referralId: input.referralId, matterId };
}

/**
 * Declines an open referral. Appends `referral.declined`.
 *
 * @param input.reason shown to the partner; null if there is none
 * @throws {RefusedError} `INVALID` if the reason is blank or too long, `NOT_FOUND` if the referral does not exist, `CONFLICT` if
 * it is closed
 */
export async function declineReferral(
  context: OperatorContext,
  input: { referralId: string; reason: string | null },
): Promise<{ referralId: string; declinedAt: Date }> {
  const { reason } = input;
  if (reason !== null && !isDeclineReason(reason)) {
    throw new RefusedError(
      'INVALID',
      `The reason must be 1 to 1,000 characters and not blank. It has ${describeLength(reason)}.`,
    );
  }
  const declinedAt = await context.store.transaction(async (transaction) => {
    const referral = await lockOpenReferral(context, transaction, input.referralId);
    const { closedAt } = await closeReferral(transaction, referral.id, { status: 'DECLINED', reason });
    const account = { id: referral.accountId, interfaceName: 'partner' } as const;
    await appendEvent(transaction, account, referralDeclined, referral.id, {
      referral: { id: input.referralId, status: 'DECLINED', externalReference: referral.externalReference },
      declinedAt: closedAt.toISOString(),
      reason,
    });
    await appendAuditEntry(transaction, context.operator, {
      action: 'referral.decline',
      subject: input.referralId,
      account,
    });
    return closedAt;
  });
  return { referralId: input.referralId, declinedAt };
}

/**
 * Locks a referral that can be converted or declined.
 *
 * @throws {RefusedError} `NOT_FOUND` if the referral does not exist, `CONFLICT` if it is closed
 */
async function lockOpenReferral(
  context: ActionContext,
  transaction: Transaction,
  gid: string,
): Promise<LockedReferralRow> {
  const id = parseGid(context.gidNamespace, 'Referral', gid);
  const referral = id === null ? null : await lockReferral(transaction, id);
  if (referral === null) throw new RefusedError('NOT_FOUND', `The referral ${gid} does not exist.`);
  if (!canCloseReferral(referral.status)) {
    throw new RefusedError('CONFLICT', `The referral ${gid} is already ${referral.status}.`);
  }
  return referral;
}

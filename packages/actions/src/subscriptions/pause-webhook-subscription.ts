import { formatGid, parseGid, type RecordId } from '@deedwire/core';
import type { Transaction } from '@deedwire/store';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import type { PausedReason } from '@deedwire/webhooks/tables';
import { appendAuditEntry } from '../kernel/audit.ts';
import {
  type ActionContext,
  type Caller,
  isCaller,
  type Operator,
  type OperatorContext,
  type WebhookActionContext,
} from '../kernel/context.ts';
import { type MutationResult, inputError, noSuchSubscription, orRefuse, type UserError } from '../kernel/errors.ts';
import {
  lockSubscription,
  pauseSubscriptionByOwner,
  selectSubscription,
  type LockedSubscription,
  resumeSubscription,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';
import { ownerFor, requireSubscription } from './subscription-ref.ts';
import { type VerificationErrorCode, verifyCallbackUrl } from './verify-callback-url.ts';
import {
  subscriptionNotFound,
  toWebhookSubscription,
  type WebhookSubscription,
  handshakeTarget,
} from './webhook-subscriptions.ts';

export type PauseWebhookSubscriptionResult = MutationResult<{ webhookSubscription: WebhookSubscription }, 'NOT_FOUND'>;

/**
 * Pauses a subscription by its owner, or for its owner by an operator. Its events are kept until it is resumed.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no subscription
 */
export async function pauseWebhookSubscription(
  context: ActionContext,
  by: Caller | Operator,
  { id: gid }: { id: string },
): Promise<PauseWebhookSubscriptionResult> {
  const { gidNamespace, store } = context;
  const { accountId, interfaceName } = await ownerFor(context, by, gid);
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  const notFound = { webhookSubscription: null, userErrors: [subscriptionNotFound] };
  if (id === null) return notFound;
  return store.transaction(async (transaction) => {
    if ((await lockSubscription(transaction, accountId, id)) === null) return notFound;
    if (await pauseSubscriptionByOwner(transaction, id, isCaller(by) ? 'OWNER' : 'OPERATOR')) {
      await appendAuditEntry(transaction, by, {
        action: 'webhook_subscription.pause',
        subject: formatGid(gidNamespace, 'WebhookSubscription', id),
        account: { id: accountId, interfaceName },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    }
    const row = await selectSubscription(transaction, accountId, id);
    return row === null ? notFound : { webhookSubscription: toWebhookSubscription(gidNamespace, row), userErrors: [] };
  });
}

/** What has happened that can end a pause. */
export interface ResumeGrounds {
  /** The callback URL has passed a handshake, or an operator vouches for it. */
  isUrlVerified: boolean;
  /** All pinned event versions can be pinned. */
  arePinsServed: boolean;
  /** The owner resumes the subscription. */
  byOwner: boolean;
}

/** Whether the worker paused the subscription because of its receiver. */
export function isReceiverFailing(reason: PausedReason | null): boolean {
  return reason === 'GONE' || reason === 'FAILING';
}

/**
 * Resumes a locked subscription, unless the reason for which it is paused remains.
 *
 * @returns whether anything was changed
 */
export async function endPause(
  transaction: Transaction,
  { id, pausedReason }: LockedSubscription,
  grounds: ResumeGrounds,
): Promise<boolean> {
  if (pausedReason === null || !endsReason(pausedReason, grounds)) return false;
  await resumeSubscription(transaction, id, grounds);
  return true;
}

function endsReason(reason: PausedReason, { isUrlVerified, arePinsServed, byOwner }: ResumeGrounds): boolean {
  if (reason === 'OWNER' || reason === 'OPERATOR') return byOwner;
  return reason === 'VERSION_RETIRED' ? arePinsServed : isUrlVerified;
}

export type ResumeWebhookSubscriptionErrorCode = VerificationErrorCode | 'NOT_FOUND' | 'VERSION_RETIRED';

export type ResumeWebhookSubscriptionResult = MutationResult<
  { webhookSubscription: WebhookSubscription },
  ResumeWebhookSubscriptionErrorCode
>;

/** Resumes a subscription of the caller. If its receiver failed, the callback URL has to pass a handshake first. */
export async function resumeWebhookSubscription(
  context: WebhookActionContext,
  caller: Caller,
  input: { id: string },
): Promise<ResumeWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  if (id === null) return reject(subscriptionNotFound);
  // Repeats if the receiver fails or gets another URL meanwhile. The limit of handshakes ends it.
  for (;;) {
    const current = await selectSubscription(context.store, caller.accountId, id);
    if (current === null) return reject(subscriptionNotFound);
    const mustVerify = isReceiverFailing(current.pausedReason);
    if (mustVerify) {
      const target = handshakeTarget(context.secretKeys, current, current.callbackUrl);
      const error = await verifyCallbackUrl(context, caller, target);
      if (error !== null) return reject({ ...error, field: error.field && ['input', 'id'] });
    }
    const verifiedUrl = mustVerify ? current.callbackUrl : null;
    const result = await resume(context, caller, { id, owner: caller, isVerified: (url) => url === verifiedUrl });
    if (result !== 'unverified') return result;
  }
}

/**
 * Resumes any subscription, for an operator. There is no handshake: the callback URL has passed one when it was registered, and
 * the worker pauses the subscription again if its receiver still fails.
 *
 * @throws {RefusedError} `NOT_FOUND` if the subscription does not exist, `CONFLICT` if it pins a retired version
 */
export async function resumePausedSubscription(
  context: OperatorContext,
  { subscriptionId }: { subscriptionId: string },
): Promise<WebhookSubscription> {
  const owner = await requireSubscription(context, subscriptionId);
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', subscriptionId);
  const result = id && (await resume(context, context.operator, { id, owner, isVerified: () => true }));
  if (result === null || result === 'unverified') throw noSuchSubscription(subscriptionId);
  return orRefuse(result).webhookSubscription;
}

interface ResumeRequest {
  id: RecordId<'WebhookSubscription'>;
  owner: SubscriptionOwner;
  /** Whether this callback URL needs no handshake. */
  isVerified: (url: string) => boolean;
}

/** `unverified`: the receiver failed, and its callback URL is not verified. */
async function resume(
  { gidNamespace, store }: ActionContext,
  by: Caller | Operator,
  { id, owner: { accountId, interfaceName }, isVerified }: ResumeRequest,
): Promise<ResumeWebhookSubscriptionResult | 'unverified'> {
  return store.transaction(async (transaction) => {
    const locked = await lockSubscription(transaction, accountId, id);
    if (locked === null) return reject(subscriptionNotFound);
    if (locked.pausedReason === 'VERSION_RETIRED') return reject(versionRetired);
    const isUrlVerified = isVerified(locked.callbackUrl);
    if (isReceiverFailing(locked.pausedReason) && !isUrlVerified) return 'unverified';
    if (await endPause(transaction, locked, { isUrlVerified, arePinsServed: false, byOwner: true })) {
      await appendAuditEntry(transaction, by, {
        action: 'webhook_subscription.resume',
        subject: formatGid(gidNamespace, 'WebhookSubscription', id),
        account: { id: accountId, interfaceName },
        details: { pausedReason: locked.pausedReason },
      });
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    }
    const row = await selectSubscription(transaction, accountId, id);
    if (row === null) return reject(subscriptionNotFound);
    return { webhookSubscription: toWebhookSubscription(gidNamespace, row), userErrors: [] };
  });
}

const versionRetired = inputError(
  'VERSION_RETIRED',
  'id',
  'The subscription pins a retired event version. Pin another one with `updateWebhookSubscription`, which resumes it.',
);

function reject(error: UserError<ResumeWebhookSubscriptionErrorCode>): ResumeWebhookSubscriptionResult {
  return { webhookSubscription: null, userErrors: [error] };
}

import { formatGid, parseGid, type RecordId } from '@deedwire/domain';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext, WebhookActionContext } from './context.ts';
import { endPause, isReceiverFailing } from './end-pause.ts';
import { inputError, type MutationResult, noSuchSubscription, orRefuse, type UserError } from './errors.ts';
import { signingSecrets } from './signing-secrets.ts';
import { requireSubscription } from './subscription-ref.ts';
import { type VerificationErrorCode, verifyCallbackUrl } from './verify-callback-url.ts';
import { subscriptionNotFound, toWebhookSubscription, type WebhookSubscription } from './webhook-subscriptions.ts';
import {
  lockSubscription,
  selectSubscription,
  type SubscriptionOwner,
} from './webhooks/subscriptions/subscriptions.ts';

/** The user errors of `resumeWebhookSubscription`. */
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
      const target = { url: current.callbackUrl, ...signingSecrets(context.secretKeys, current) };
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

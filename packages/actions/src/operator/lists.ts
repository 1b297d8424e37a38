import { parseAccountGid, parseGid, type ReferralStatus } from '@deedwire/domain';
import { selectAccount } from '@deedwire/store/accounts';
import { selectReferrals } from '@deedwire/store/referrals';
import { selectDeliveries, selectDeliveryOfAnyAccount, type DeliveryStatus } from '@deedwire/store/webhook-deliveries';
import { subscriptionExists } from '@deedwire/store/webhook-subscriptions';
import type { ActionContext } from '../context.ts';
import { RefusedError } from '../errors.ts';
import { readPage, type Page, type PageRequest } from '../page.ts';
import { toReferral, type Referral } from '../referrals/records.ts';
import { listWebhookAttempts } from '../webhooks/list-webhook-attempts.ts';
import { toWebhookDelivery, type WebhookAttempt, type WebhookDelivery } from '../webhooks/records.ts';

/**
 * The referrals of a partner, newest first.
 *
 * @throws RefusedError `NOT_FOUND`, InvalidArgumentError
 */
export async function listReferralsForOperator(
  context: ActionContext,
  request: PageRequest & { partnerId: string; status: ReferralStatus | null },
): Promise<Page<Referral>> {
  const accountId = parseAccountGid(context.gidNamespace, 'partner', request.partnerId);
  const account = accountId === null ? null : await selectAccount(context.store, 'partner', accountId);
  if (account === null) throw new RefusedError('NOT_FOUND', `There is no partner ${request.partnerId}.`);
  return readPage(
    'referrals',
    request,
    (query) => selectReferrals(context.store, { accountId: account.id, status: request.status }, query),
    (row) => toReferral(context.gidNamespace, row),
  );
}

/**
 * The deliveries of everybody, newest first.
 *
 * @param request.subscriptionId null: whatever the subscription
 * @throws RefusedError `NOT_FOUND`, InvalidArgumentError
 */
export async function listDeliveries(
  context: ActionContext,
  request: PageRequest & { subscriptionId: string | null; status: DeliveryStatus | null },
): Promise<Page<WebhookDelivery>> {
  const gid = request.subscriptionId;
  const subscriptionId = gid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const exists = subscriptionId !== null && (await subscriptionExists(context.store, subscriptionId));
  if (gid !== null && !exists) throw new RefusedError('NOT_FOUND', `There is no subscription ${gid}.`);
  const filter = { accountId: null, subscriptionId, status: request.status };
  return readPage(
    'webhookDeliveries',
    request,
    (query) => selectDeliveries(context.store, filter, query),
    (row) => toWebhookDelivery(context.gidNamespace, row),
  );
}

/**
 * One delivery with its latest 20 attempts, newest first.
 *
 * @throws RefusedError `NOT_FOUND`
 */
export async function showDelivery(
  context: ActionContext,
  input: { deliveryId: string },
): Promise<WebhookDelivery & { attempts: WebhookAttempt[] }> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', input.deliveryId);
  const row = id === null ? null : await selectDeliveryOfAnyAccount(context.store, id);
  if (row === null) throw new RefusedError('NOT_FOUND', `There is no delivery ${input.deliveryId}.`);
  const delivery = toWebhookDelivery(context.gidNamespace, row);
  const [attempts = []] = await listWebhookAttempts(context, [delivery]);
  return { ...delivery, attempts };
}

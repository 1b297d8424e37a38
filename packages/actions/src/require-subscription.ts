import { parseGid } from '@deedwire/domain';
import { selectSubscriptionOwner, type SubscriptionOwner } from '@deedwire/webhooks/subscriptions';
import type { ActionContext } from './context.ts';
import { RefusedError } from './errors.ts';

/**
 * Finds the account of a subscription, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function requireSubscription(
  { gidNamespace, store }: ActionContext,
  gid: string,
): Promise<SubscriptionOwner> {
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  const owner = id === null ? null : await selectSubscriptionOwner(store, id);
  if (owner === null) throw new RefusedError('NOT_FOUND', `The subscription ${gid} does not exist.`);
  return owner;
}

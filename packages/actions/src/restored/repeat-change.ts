import { formatAccountGid, parseGid } from '@deedwire/domain';
import { selectListenersForbiddenAt } from '@deedwire/store/accounts';
import { lockApiClient, selectApiKey } from '@deedwire/store/credentials';
import { findAccount } from '../accounts.ts';
import { pinClient, setClientLimit } from '../clients.ts';
import type { OperatorContext } from '../context.ts';
import { expireCredential, revokeCredential } from '../credentials.ts';
import { orRefuse, RefusedError } from '../errors.ts';
import { pauseWebhookSubscription } from '../pause-webhook-subscription.ts';
import { findSubscription } from '../subscription-ref.ts';
import { removeTeamMember } from '../team-members.ts';
import { deleteListenerOfAccount, permitListeners } from '../webhook-listeners.ts';
import { cancelWebhookReplay, readWebhookReplay } from '../webhook-replays.ts';
import { deleteSubscriptionOfAccount } from '../webhook-subscriptions.ts';
import { selectSubscription } from '../webhooks/subscriptions/subscriptions.ts';
import type { LostChange, RepeatedVerb } from './lost-changes.ts';

/** @throws {RefusedError} `NOT_FOUND` if there is none, `CONFLICT` if it is not of the account of the entry, so that the entry lies */
async function requireOwn(context: OperatorContext, { accountId }: LostChange, subscription: string): Promise<void> {
  const { owner } = await findSubscription(context, subscription);
  const found = formatAccountGid(context.gidNamespace, owner.interfaceName, owner.accountId);
  if (found === accountId) return;
  const message = `The entry is of ${accountId}, but ${subscription} is of ${found}. Find out who wrote it.`;
  throw new RefusedError('CONFLICT', message);
}

type Repeat = (context: OperatorContext, change: LostChange) => Promise<boolean>;

const repeats: Record<RepeatedVerb, Repeat> = {
  async cancel(context, change) {
    const { subject: id } = change;
    const replay = await readWebhookReplay(context, { replayId: id });
    await requireOwn(context, change, replay.subscriptionId);
    if (replay.endedAt !== null) return false;
    orRefuse(await cancelWebhookReplay(context, context.operator, { id }));
    return true;
  },

  async delete(context, change) {
    const { subject } = change;
    if (parseGid(context.gidNamespace, 'TeamMember', subject) !== null) {
      await removeTeamMember(context, { teamMemberId: subject });
      return true;
    }
    await requireOwn(context, change, subject);
    if (parseGid(context.gidNamespace, 'WebhookListener', subject) === null)
      await deleteSubscriptionOfAccount(context, { subscriptionId: subject });
    else await deleteListenerOfAccount(context, { listenerId: subject });
    return true;
  },

  async expire(context, { subject: keyId, values }) {
    const key = await selectApiKey(context.store, keyId);
    const expiresAt = new Date(values['expires_at'] ?? Number.NaN);
    const now = context.now();
    if (key === null || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) return false;
    if (key.expiresAt?.getTime() === expiresAt.getTime()) return false;
    await expireCredential(context, { keyId, expiresAt: expiresAt <= now ? null : expiresAt });
    return true;
  },

  async limit(context, { subject: clientId, values }) {
    const client = await lockApiClient(context.store, clientId);
    if (client === null) return false;
    const maximum = Number(values['cost_maximum'] ?? client.costMaximum);
    const restoreRate = Number(values['cost_restore_rate'] ?? client.costRestoreRate);
    if (maximum === client.costMaximum && restoreRate === client.costRestoreRate) return false;
    await setClientLimit(context, { clientId, maximum, restoreRate });
    return true;
  },

  async listeners(context, { subject: accountId, values }) {
    const isForbidden = values['webhook_listeners_forbidden_at'] !== null;
    const { id } = await findAccount(context, null, accountId);
    if (((await selectListenersForbiddenAt(context.store, id)) !== null) === isForbidden) return false;
    await permitListeners(context, { accountId, isForbidden });
    return true;
  },

  async pause(context, change) {
    const { subject: id } = change;
    await requireOwn(context, change, id);
    const subscriptionId = parseGid(context.gidNamespace, 'WebhookSubscription', id);
    const row = subscriptionId && (await selectSubscription(context.store, null, subscriptionId));
    if (row === null || row.pausedReason === 'OWNER' || row.ownerPausedAt !== null) return false;
    orRefuse(await pauseWebhookSubscription(context, context.operator, { id }));
    return true;
  },

  async pin(context, { subject: clientId, values }) {
    const schemaVersion = values['schema_version'] ?? '';
    const client = await lockApiClient(context.store, clientId);
    if (client === null || client.schemaVersion === schemaVersion) return false;
    await pinClient(context, { clientId, schemaVersion });
    return true;
  },

  async revoke(context, { subject: keyId }) {
    const key = await selectApiKey(context.store, keyId);
    if (key === null || key.revokedAt !== null) return false;
    await revokeCredential(context, { keyId });
    return true;
  },
};

export function isRepeated(change: LostChange): change is LostChange<RepeatedVerb> {
  return change.verb in repeats;
}

/**
 * Makes a change again.
 *
 * @returns false if it is not necessary: the record has it, or does not exist
 * @throws {RefusedError} if it cannot be made
 */
export async function repeatChange(context: OperatorContext, change: LostChange<RepeatedVerb>): Promise<boolean> {
  try {
    return await repeats[change.verb](context, change);
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

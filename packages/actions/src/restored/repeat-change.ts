import { formatAccountGid, operatorCommand, parseGid } from '@deedwire/core';
import { selectListenersForbiddenAt } from '@deedwire/store/accounts';
import { lockApiClient, selectApiKey } from '@deedwire/store/credentials';
import { findAccount } from '../accounts/accounts.ts';
import { pinClient, setClientLimit } from '../accounts/clients.ts';
import { expireCredential, revokeCredential } from '../accounts/credentials.ts';
import { cancelWebhookReplay, readWebhookReplay } from '../deliveries/webhook-replays.ts';
import type { OperatorContext } from '../kernel/context.ts';
import { orRefuse, RefusedError } from '../kernel/errors.ts';
import { pauseWebhookSubscription } from '../subscriptions/pause-webhook-subscription.ts';
import { findSubscription } from '../subscriptions/subscription-ref.ts';
import { deleteListenerOfAccount, permitListeners } from '../subscriptions/webhook-listeners.ts';
import { deleteSubscriptionOfAccount } from '../subscriptions/webhook-subscriptions.ts';
import { selectSubscription } from '../webhooks/subscriptions/subscriptions.ts';
import type { RepeatedVerb } from './audit-effects.ts';
import type { LostChange } from './lost-changes.ts';

/** @throws {RefusedError} `NOT_FOUND` if there is none, `CONFLICT` if it is not of the account of the entry, so that the entry lies */
async function requireOwn(context: OperatorContext, { accountId }: LostChange, subscription: string): Promise<void> {
  const { owner } = await findSubscription(context, subscription);
  const found = formatAccountGid(context, owner.interfaceName, owner.accountId);
  if (found === accountId) return;
  const message = `The entry is of ${accountId}, but ${subscription} is of ${found}. Find out who wrote it.`;
  throw new RefusedError('CONFLICT', message);
}

/** What makes the change. Null if it is not necessary: the record has it. */
type Repeat = (
  context: OperatorContext,
  change: LostChange,
  deletions: Deletions,
) => Promise<(() => Promise<unknown>) | null>;

/** What deletes a record of the application, by its global identifier. Null if it does not exist. */
export type RepeatDeletion = (context: OperatorContext, gid: string) => Promise<(() => Promise<unknown>) | null>;

/** By the type of the record. */
export type Deletions = ReadonlyMap<string, RepeatDeletion>;

/** The client is lost, too, with its keys. */
const lostClient = (command: string): RefusedError =>
  new RefusedError('CONFLICT', `The client is lost. If another one replaces it, run: ${operatorCommand()} ${command}`);

const repeats: Record<RepeatedVerb, Repeat> = {
  async cancel(context, change) {
    const { subject: id } = change;
    const replay = await readWebhookReplay(context, { replayId: id });
    await requireOwn(context, change, replay.subscriptionId);
    if (replay.endedAt !== null) return null;
    return async () => orRefuse(await cancelWebhookReplay(context, context.operator, { id }));
  },

  async delete(context, change, deletions) {
    const { subject } = change;
    for (const [type, repeat] of deletions)
      if (parseGid(context.gidNamespace, type, subject) !== null) return repeat(context, subject);
    await requireOwn(context, change, subject);
    return parseGid(context.gidNamespace, 'WebhookListener', subject) === null
      ? () => deleteSubscriptionOfAccount(context, { subscriptionId: subject })
      : () => deleteListenerOfAccount(context, { listenerId: subject });
  },

  async expire(context, { subject: keyId, values }) {
    const key = await selectApiKey(context.store, keyId);
    const expiresAt = new Date(values['expires_at'] ?? Number.NaN);
    const now = context.now();
    if (key === null || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) return null;
    if (key.expiresAt?.getTime() === expiresAt.getTime()) return null;
    return () => expireCredential(context, { keyId, expiresAt: expiresAt <= now ? null : expiresAt });
  },

  async limit(context, { subject: clientId, values }) {
    const client = await lockApiClient(context.store, clientId);
    const { cost_maximum: ofMaximum, cost_restore_rate: ofRate } = values;
    if (client === null)
      throw lostClient(
        `client set-limit <id> --maximum ${ofMaximum ?? '<points>'} --restore-rate ${ofRate ?? '<points>'}`,
      );
    const maximum = Number(ofMaximum ?? client.costMaximum);
    const restoreRate = Number(ofRate ?? client.costRestoreRate);
    if (maximum === client.costMaximum && restoreRate === client.costRestoreRate) return null;
    return () => setClientLimit(context, { clientId, maximum, restoreRate });
  },

  async listeners(context, { subject: accountId, values }) {
    const isForbidden = values['webhook_listeners_forbidden_at'] !== null;
    const { id } = await findAccount(context, null, accountId);
    if (((await selectListenersForbiddenAt(context.store, id)) !== null) === isForbidden) return null;
    return () => permitListeners(context, { accountId, isForbidden });
  },

  async pause(context, change) {
    const { subject: id } = change;
    await requireOwn(context, change, id);
    const subscriptionId = parseGid(context.gidNamespace, 'WebhookSubscription', id);
    const row = subscriptionId && (await selectSubscription(context.store, null, subscriptionId));
    if (row === null || row.pausedReason === 'OWNER' || row.ownerPausedAt !== null) return null;
    return async () => orRefuse(await pauseWebhookSubscription(context, context.operator, { id }));
  },

  async pin(context, { subject: clientId, values }) {
    const schemaVersion = values['schema_version'] ?? '';
    const client = await lockApiClient(context.store, clientId);
    if (client === null) throw lostClient(`client pin <id> --schema-version ${schemaVersion}`);
    if (client.schemaVersion === schemaVersion) return null;
    return () => pinClient(context, { clientId, schemaVersion });
  },

  async revoke(context, { subject: keyId }) {
    const key = await selectApiKey(context.store, keyId);
    return key === null || key.revokedAt !== null ? null : () => revokeCredential(context, { keyId });
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
export async function repeatChange(
  context: OperatorContext,
  change: LostChange<RepeatedVerb>,
  { isDryRun, deletions }: { isDryRun: boolean; deletions: Deletions },
): Promise<boolean> {
  try {
    const repeat = await repeats[change.verb](context, change, deletions);
    if (!isDryRun) await repeat?.();
    return repeat !== null;
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

/**
 * Whether nothing is left of a change that is only listed: its subscription is gone, or is active.
 *
 * @throws {RefusedError} `CONFLICT` as `requireOwn`
 */
export async function isMoot(context: OperatorContext, change: LostChange): Promise<boolean> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', change.subject);
  if (id === null || change.verb === 'create') return false;
  const row = await selectSubscription(context.store, null, id);
  if (row === null) return true;
  await requireOwn(context, change, change.subject);
  return change.verb === 'resume' && row.pausedReason === null;
}

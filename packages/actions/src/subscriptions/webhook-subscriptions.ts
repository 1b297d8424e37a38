import {
  describeSubscriptionName,
  formatAccountGid,
  formatGid,
  type InterfaceName,
  isSubscriptionName,
  parseGid,
  type RequestHeaderState,
  secretAssociatedData,
  timeoutDefaultSeconds,
  timeoutMaxSeconds,
} from '@deedwire/core';
import type { SecretKeyRing, Transaction } from '@deedwire/store';
import { eraseIdempotencyKeysOfRecord } from '@deedwire/store/idempotency';
import type { HandshakeTarget } from '@deedwire/webhook-sender';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { pausedReasons, type SubscriptionId } from '@deedwire/webhooks/tables';
import { z } from 'zod';
import { findAccount } from '../accounts/accounts.ts';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, OperatorContext, WebhookActionContext } from '../kernel/context.ts';
import { inputError, noSuchSubscription, type MutationResult, type UserError } from '../kernel/errors.ts';
import { type SavedResult, timeCodec } from '../kernel/idempotency.ts';
import { keysetPage, orderOfIds, type Page, type PageRequest } from '../kernel/page.ts';
import { countedDeliveriesMax, type Health, selectHealth } from '../webhooks/subscriptions/health.ts';
import {
  deleteEventTypePins,
  deleteSubscription,
  lockSubscription,
  markSubscriptionDeleted,
  selectSubscription,
  selectSubscriptions,
  selectSubscriptionsById,
  selectSubscriptionState,
  type SubscriptionRow,
  type SubscriptionsFilter,
  type SubscriptionState,
} from '../webhooks/subscriptions/subscriptions.ts';
import { headerFor, headerStateOf } from './request-headers.ts';
import { notASubscription, requireSubscription } from './subscription-ref.ts';

export const createMutation = 'createWebhookSubscription';
export const rotateMutation = 'rotateWebhookSecret';

/** The mutations whose saved results contain a subscription. Its deletion erases them: webhook_delete_subscription() names them too. */
const mutationsWithResults = [createMutation, rotateMutation];

/** The same for a malformed identifier, a deleted subscription and the subscription of another account. */
export const subscriptionNotFound = inputError('NOT_FOUND', 'id', 'You have no subscription with this identifier.');

/** `WebhookSubscription`. */
export interface WebhookSubscription extends Pick<
  SubscriptionRow,
  'name' | 'callbackUrl' | 'timeoutSeconds' | 'pausedReason' | 'pausedAt' | 'eventTypes' | 'createdAt'
> {
  id: string;
  /** Null if it has none. */
  requestHeaderName: string | null;
  /** Null as the name is. */
  headerState: RequestHeaderState | null;
  status: 'ACTIVE' | 'PAUSED';
  /** `WebhookSecretRotation`. Null if the secret is not being rotated. */
  rotation: { startedAt: Date; endsAt: Date } | null;
}

export function toWebhookSubscription(gidNamespace: string, row: SubscriptionRow): WebhookSubscription {
  return {
    id: formatGid(gidNamespace, 'WebhookSubscription', row.id),
    name: row.name,
    callbackUrl: row.callbackUrl,
    timeoutSeconds: row.timeoutSeconds,
    requestHeaderName: row.requestHeader?.name ?? null,
    headerState: headerStateOf(row),
    status: row.pausedAt === null ? 'ACTIVE' : 'PAUSED',
    pausedReason: row.pausedReason,
    pausedAt: row.pausedAt,
    eventTypes: row.eventTypes,
    createdAt: row.createdAt,
    rotation: row.rotation && { startedAt: row.rotation.startedAt, endsAt: row.rotation.endsAt },
  };
}

/** A subscription of the caller. Null if the caller has no subscription with this identifier. */
export async function findWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookSubscription | null> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const row = id === null ? null : await selectSubscription(context.store, caller.accountId, id);
  return row === null ? null : toWebhookSubscription(context.gidNamespace, row);
}

/**
 * Subscriptions of the caller, read with one statement.
 *
 * @returns one for each identifier, in the same order. Null if the caller has no subscription with this identifier.
 */
export async function findWebhookSubscriptions(
  context: ActionContext,
  caller: Caller,
  gids: readonly string[],
): Promise<(WebhookSubscription | null)[]> {
  const ids = gids.map((gid) => parseGid(context.gidNamespace, 'WebhookSubscription', gid));
  const known = ids.filter((id) => id !== null);
  const rows = await selectSubscriptionsById(context.store, caller.accountId, known);
  const byId = new Map(rows.map((row) => [row.id, toWebhookSubscription(context.gidNamespace, row)]));
  return ids.map((id) => (id === null ? null : (byId.get(id) ?? null)));
}

/** The caller's subscriptions, newest first. */
export async function listWebhookSubscriptions(
  context: ActionContext,
  caller: Caller,
  request: PageRequest,
): Promise<Page<WebhookSubscription>> {
  return keysetPage(
    orderOfIds<'WebhookSubscription'>('webhookSubscriptions'),
    request,
    ({ after, limit }) =>
      selectSubscriptions(context.store, { accountId: caller.accountId, status: null }, { afterId: after, limit }),
    (row) => toWebhookSubscription(context.gidNamespace, row),
  );
}

/** A subscription of any account, for operators. */
export interface SubscriptionOfAccount extends WebhookSubscription {
  /** The global identifier of the account. */
  accountId: string;
  interfaceName: InterfaceName;
}

function toSubscriptionOfAccount(context: ActionContext, row: SubscriptionRow): SubscriptionOfAccount {
  const { interfaceName } = row;
  const accountId = formatAccountGid(context, interfaceName, row.accountId);
  return { ...toWebhookSubscription(context.gidNamespace, row), accountId, interfaceName };
}

/**
 * The subscriptions of all accounts, newest first. A filter that is null does not restrict the list.
 *
 * @param request.accountId the global identifier of an account
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listAllWebhookSubscriptions(
  context: ActionContext,
  request: PageRequest & { accountId: string | null; status: SubscriptionsFilter['status'] },
): Promise<Page<SubscriptionOfAccount>> {
  const account = request.accountId === null ? null : await findAccount(context, null, request.accountId);
  const filter = { accountId: account?.id ?? null, status: request.status };
  return keysetPage(
    orderOfIds<'WebhookSubscription'>('webhookSubscriptions'),
    request,
    ({ after, limit }) => selectSubscriptions(context.store, filter, { afterId: after, limit }),
    (row) => toSubscriptionOfAccount(context, row),
  );
}

/** A subscription with what is known about its deliveries and its receiver. */
export type ShownSubscription = SubscriptionOfAccount &
  Omit<SubscriptionState, 'lastSequence'> & { lastSequence: number; health: Omit<Health, 'lastFailedDeliveryId'> };

/**
 * A subscription of any account. The number of failed deliveries is at most `countedDeliveriesMax`.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function readWebhookSubscription(
  context: ActionContext,
  input: { subscriptionId: string },
): Promise<ShownSubscription> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.subscriptionId);
  const row = id === null ? null : await selectSubscription(context.store, null, id);
  const state = row === null ? null : await selectSubscriptionState(context.store, row.id, countedDeliveriesMax);
  const [health] = row === null ? [] : await selectHealth(context.store, row.accountId, [row.id]);
  if (row === null || state === null || health === undefined)
    throw await notASubscription(context, input.subscriptionId);
  const { lastFailedDeliveryId: _, ...shownHealth } = health;
  return {
    ...toSubscriptionOfAccount(context, row),
    ...state,
    health: shownHealth,
    lastSequence: Number(state.lastSequence),
  };
}

export type DeleteWebhookSubscriptionResult = MutationResult<{ deletedWebhookSubscriptionId: string }, 'NOT_FOUND'>;

/**
 * Deletes a subscription. Afterwards no interface shows it or its deliveries. Its worker stops sending and deletes the
 * pending deliveries.
 */
export async function deleteWebhookSubscription(
  context: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<DeleteWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const isDeleted =
    id !== null &&
    (await context.store.transaction(async (transaction) => {
      if ((await lockSubscription(transaction, caller.accountId, id)) === null) return false;
      const action = 'webhook_subscription.delete';
      await deleteLocked(transaction, caller, id, { action, subject: input.id, mutations: mutationsWithResults });
      return true;
    }));
  return isDeleted
    ? { deletedWebhookSubscriptionId: input.id, userErrors: [] }
    : { deletedWebhookSubscriptionId: null, userErrors: [subscriptionNotFound] };
}

/**
 * Deletes any subscription, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function deleteSubscriptionOfAccount(
  context: OperatorContext,
  { subscriptionId }: { subscriptionId: string },
): Promise<{ deletedWebhookSubscriptionId: string }> {
  const { gidNamespace, store, operator } = context;
  const owner = await requireSubscription(context, subscriptionId);
  const id = parseGid(gidNamespace, 'WebhookSubscription', subscriptionId);
  const isDeleted =
    id !== null &&
    (await store.transaction(async (transaction) => {
      if (!(await deleteSubscription(transaction, owner, id))) return false;
      const { accountId, interfaceName } = owner;
      const account = { id: accountId, interfaceName };
      const change = { action: 'webhook_subscription.delete', subject: subscriptionId, account };
      await appendAuditEntry(transaction, operator, change);
      return true;
    }));
  if (!isDeleted) throw noSuchSubscription(subscriptionId);
  return { deletedWebhookSubscriptionId: subscriptionId };
}

/** Deletes a locked subscription or listener, and what saved results of these mutations say about it. */
export async function deleteLocked(
  transaction: Transaction,
  caller: Caller,
  id: SubscriptionId,
  { mutations, ...change }: { action: string; subject: string; mutations: readonly string[] },
): Promise<void> {
  const { accountId, interfaceName } = caller;
  await markSubscriptionDeleted(transaction, id);
  await deleteEventTypePins(transaction, id);
  await eraseIdempotencyKeysOfRecord(transaction, { accountId, mutations, recordId: id });
  await appendAuditEntry(transaction, caller, { ...change, account: { id: accountId, interfaceName } });
  await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
}

/**
 * How a saved result keeps a subscription. Results of earlier builds must stay readable for 24 hours: only add optional fields.
 */
export const webhookSubscriptionCodec = z.object({
  id: z.string(),
  name: z.string().nullable().default(null),
  callbackUrl: z.string(),
  timeoutSeconds: z.int().default(timeoutDefaultSeconds),
  requestHeaderName: z.string().nullable().default(null),
  headerState: z.enum(['SENT', 'DROPPED']).nullable().default(null),
  status: z.enum(['ACTIVE', 'PAUSED']),
  pausedReason: z.enum(pausedReasons).nullable(),
  pausedAt: timeCodec.nullable(),
  eventTypes: z.array(z.object({ type: z.string(), version: z.string() })),
  createdAt: timeCodec,
  rotation: z.object({ startedAt: timeCodec, endsAt: timeCodec }).nullable().default(null),
}) satisfies z.ZodType<WebhookSubscription>;

/** The subscription and the secret of a saved result that contains both. */
export function savedSubscription(
  { gidNamespace, secretKeys }: Pick<WebhookActionContext, 'gidNamespace' | 'secretKeys'>,
  { payload: webhookSubscription, secretCiphertext }: SavedResult<WebhookSubscription>,
): { webhookSubscription: WebhookSubscription; webhookSecret: string } {
  const id = parseGid(gidNamespace, 'WebhookSubscription', webhookSubscription.id);
  if (id === null || secretCiphertext === null)
    throw new Error('The saved result is not a subscription with a secret.');
  const webhookSecret = secretKeys.decrypt(secretCiphertext, secretAssociatedData(id));
  return { webhookSubscription, webhookSecret };
}

/** What a handshake with a subscription needs: its secrets, and its header unless it is for another origin. */
export function handshakeTarget(keys: SecretKeyRing, row: SubscriptionRow, url: string): HandshakeTarget {
  return { url, ...signingSecrets(keys, row), secretHeader: headerFor(keys, row, url) };
}

/** The secrets that sign requests to a subscription: two during a rotation. */
export function signingSecrets(
  keys: SecretKeyRing,
  { id, secretCiphertext, rotation }: SubscriptionRow,
): { secret: string; nextSecret?: string } {
  const decrypt = (ciphertext: Buffer): string => keys.decrypt(ciphertext, secretAssociatedData(id));
  const secret = decrypt(secretCiphertext);
  return rotation === null ? { secret } : { secret, nextSecret: decrypt(rotation.nextSecretCiphertext) };
}

/** The user error of a name that is not valid. None for a valid one, and for none. */
export function findNameErrors(name: string | null | undefined): UserError<'NAME_INVALID'>[] {
  if (name === null || name === undefined || isSubscriptionName(name)) return [];
  return [inputError('NAME_INVALID', 'name', describeSubscriptionName(name))];
}

/** The user error of a timeout that is out of range. None for a valid one, and for none. */
export function findTimeoutErrors(seconds: number | null | undefined): UserError<'TIMEOUT_INVALID'>[] {
  if (seconds === null || seconds === undefined) return [];
  if (Number.isInteger(seconds) && seconds >= timeoutDefaultSeconds && seconds <= timeoutMaxSeconds) return [];
  const message = `The timeout must be ${timeoutDefaultSeconds} to ${timeoutMaxSeconds} seconds; it is ${seconds.toLocaleString('en')}.`;
  return [inputError('TIMEOUT_INVALID', 'timeoutSeconds', message)];
}

/** The user error of a webhook secret that is malformed. */
export function webhookSecretInvalid(secret: string): UserError<'WEBHOOK_SECRET_INVALID'> {
  const message = `A webhook secret is \`whsec_\` and the base64 of 24 to 64 bytes.${describeSecretSize(secret)}`;
  return inputError('WEBHOOK_SECRET_INVALID', 'webhookSecret', message);
}

/** For secrets whose only problem is their size. */
function describeSecretSize(secret: string): string {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]*={0,2})$/.exec(secret) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  if (base64 === '' || bytes.toString('base64') !== base64) return '';
  return ` This one has ${bytes.length.toLocaleString('en')} bytes.`;
}

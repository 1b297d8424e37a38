import { formatAccountGid, formatGid, type InterfaceName, parseGid } from '@deedwire/core';
import type { Database } from '@deedwire/store';
import { forbidListeners, selectListenersForbiddenAt } from '@deedwire/store/accounts';
import { type EventTypePin, type ListenerId, subscriptionIdOf } from '@deedwire/webhooks/tables';
import { z } from 'zod';
import { findAccount } from '../accounts/accounts.ts';
import { appendAuditEntry, nameOperator } from '../kernel/audit.ts';
import type { ActionContext, Caller, OperatorContext } from '../kernel/context.ts';
import {
  inputError,
  type MutationResult,
  RefusedError,
  type UserError,
  type IdempotencyErrorCode,
} from '../kernel/errors.ts';
import { resultOf, type SaveResult, timeCodec, withIdempotencyKey } from '../kernel/idempotency.ts';
import { keysetPage, orderOfIds, type Page, type PageRequest } from '../kernel/page.ts';
import {
  deleteListener,
  insertListener,
  type ListenerRow,
  lockListener,
  selectListener,
  selectListeners,
} from '../webhooks/subscriptions/listeners.ts';
import {
  insertEventTypePins,
  countSubscriptions,
  lockSubscriptionsOfAccount,
  selectSubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';
import { chooseEventTypes, type EventTypeChoice, type EventTypesErrorCode, pinNames } from './webhook-event-types.ts';
import { deleteLocked } from './webhook-subscriptions.ts';

// webhook_delete_listener(), with which operators and the worker delete, names it too.
const createMutation = 'createWebhookListener';

/** `WebhookListener`: a subscription that is read with `webhookEvents`, and never sent. */
export interface WebhookListener {
  id: string;
  /** Ordered by type. */
  eventTypes: EventTypePin[];
  createdAt: Date;
  /** It is deleted after this time. Reading it postpones that. */
  expiresAt: Date;
  /** The sequence of its last event. 0 if there is none. */
  lastSequence: number;
}

/** Since the last read. A read is noted at most once an hour, and the worker deletes an hour later. */
const lifetimeMs = 24 * 3_600_000;

function toWebhookListener(gidNamespace: string, row: ListenerRow): WebhookListener {
  return {
    id: formatGid(gidNamespace, 'WebhookListener', row.id),
    eventTypes: row.eventTypes,
    createdAt: row.createdAt,
    expiresAt: new Date(row.lastReadAt.getTime() + lifetimeMs),
    lastSequence: Number(row.lastSequence),
  };
}

/** How a saved result keeps a listener. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
const savedListener = z.object({
  id: z.string(),
  eventTypes: z.array(z.object({ type: z.string(), version: z.string() })),
  createdAt: timeCodec,
  expiresAt: timeCodec,
  lastSequence: z.int(),
}) satisfies z.ZodType<WebhookListener>;

/** All listeners of the caller, newest first. */
export async function listWebhookListeners(
  { gidNamespace, store }: ActionContext,
  caller: Caller,
): Promise<WebhookListener[]> {
  const rows = await selectListeners(store, caller.accountId, { afterId: null, limit: listenersPerAccount });
  return rows.map((row) => toWebhookListener(gidNamespace, row));
}

export type CreateWebhookListenerErrorCode = EventTypesErrorCode | IdempotencyErrorCode | 'FORBIDDEN' | 'LIMIT_REACHED';

/** `CreateWebhookListenerInput`. A field that is null or undefined is not set. */
export interface CreateWebhookListenerInput {
  eventTypes: readonly EventTypeChoice[];
  idempotencyKey?: string | null | undefined;
}

export type CreateWebhookListenerResult = MutationResult<
  { webhookListener: WebhookListener },
  CreateWebhookListenerErrorCode
>;

const listenersPerAccount = 10;

const limitReached: UserError<'LIMIT_REACHED'> = {
  code: 'LIMIT_REACHED',
  message: `The account has reached its limit of ${listenersPerAccount} listeners. Delete one first. \`webhookListeners\` lists them.`,
  field: null,
};

const forbidden: UserError<'FORBIDDEN'> = {
  code: 'FORBIDDEN',
  message: 'The operator has forbidden listeners for your account. Ask the operator to allow them.',
  field: null,
};

/** Creates a subscription that the caller reads with `webhookEvents`, and that is never sent. */
export async function createWebhookListener(
  context: ActionContext,
  caller: Caller,
  input: CreateWebhookListenerInput,
): Promise<CreateWebhookListenerResult> {
  const request = {
    mutation: createMutation,
    key: input.idempotencyKey,
    input: { eventTypes: input.eventTypes.map(({ type, version }) => [type, version ?? null]) },
    codec: savedListener,
  };
  const created = await withIdempotencyKey(context, caller, request, (saveResult) =>
    create(context, caller, input, saveResult),
  );
  return resultOf(created, {
    repeat: (saved) => ({ webhookListener: saved.payload, userErrors: [] }),
    reject,
    findInputErrors: async () => [
      ...chooseEventTypes(context.service, caller.interfaceName, input.eventTypes, [], context.now()).userErrors,
      ...(await checkAccount(context.store, caller)),
    ],
  });
}

async function create(
  { service, gidNamespace, store, now }: ActionContext,
  caller: Caller,
  input: CreateWebhookListenerInput,
  saveResult: SaveResult<WebhookListener>,
): Promise<CreateWebhookListenerResult> {
  const { accountId, interfaceName } = caller;
  const choice = chooseEventTypes(service, interfaceName, input.eventTypes, [], now());
  return store.transaction(async (transaction) => {
    await lockSubscriptionsOfAccount(transaction, accountId);
    const userErrors = [...choice.userErrors, ...(await checkAccount(transaction, caller))];
    if (userErrors.length > 0) return reject(userErrors);

    const id = await insertListener(transaction, { accountId, interfaceName });
    await insertEventTypePins(transaction, { id: subscriptionIdOf(id), interfaceName }, choice.eventTypes);
    const row = await selectListener(transaction, accountId, id);
    if (row === null) throw new Error(`The listener ${id} does not exist after its insert.`);
    const webhookListener = toWebhookListener(gidNamespace, row);
    await appendAuditEntry(transaction, caller, {
      action: 'webhook_listener.create',
      subject: webhookListener.id,
      account: { id: accountId, interfaceName },
      details: { eventTypes: pinNames(choice.eventTypes) },
    });
    await saveResult(transaction, { payload: webhookListener, secretCiphertext: null, recordId: id });
    return { webhookListener, userErrors: [] };
  });
}

/** Whether the account may create a further listener. Final only under the lock of `lockSubscriptionsOfAccount`. */
async function checkAccount(
  database: Database,
  { accountId }: Caller,
): Promise<UserError<'FORBIDDEN' | 'LIMIT_REACHED'>[]> {
  if ((await selectListenersForbiddenAt(database, accountId)) !== null) return [forbidden];
  return (await countSubscriptions(database, accountId, 'LISTENER')) >= listenersPerAccount ? [limitReached] : [];
}

function reject(userErrors: UserError<CreateWebhookListenerErrorCode>[]): CreateWebhookListenerResult {
  return { webhookListener: null, userErrors };
}

export type DeleteWebhookListenerResult = MutationResult<{ deletedWebhookListenerId: string }, 'NOT_FOUND'>;

const listenerNotFound = inputError('NOT_FOUND', 'id', 'You have no listener with this identifier.');

/** Deletes a listener of the caller. Its events can no longer be read. */
export async function deleteWebhookListener(
  { gidNamespace, store }: ActionContext,
  caller: Caller,
  input: { id: string },
): Promise<DeleteWebhookListenerResult> {
  const id = parseGid(gidNamespace, 'WebhookListener', input.id);
  const { accountId } = caller;
  const isDeleted =
    id !== null &&
    (await store.transaction(async (transaction) => {
      if (!(await lockListener(transaction, accountId, id))) return false;
      const deletion = { action: 'webhook_listener.delete', subject: input.id, mutations: [createMutation] };
      await deleteLocked(transaction, caller, subscriptionIdOf(id), deletion);
      return true;
    }));
  return isDeleted
    ? { deletedWebhookListenerId: input.id, userErrors: [] }
    : { deletedWebhookListenerId: null, userErrors: [listenerNotFound] };
}

/** A listener of any account, for operators. */
export interface ListenerOfAccount extends WebhookListener {
  /** The global identifier of the account. */
  accountId: string;
  interfaceName: InterfaceName;
}

/**
 * The listeners of all accounts, newest first.
 *
 * @param request.accountId the global identifier of an account. Null does not restrict the list.
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listAllWebhookListeners(
  context: ActionContext,
  request: PageRequest & { accountId: string | null },
): Promise<Page<ListenerOfAccount>> {
  const { gidNamespace, store } = context;
  const account = request.accountId === null ? null : await findAccount(context, null, request.accountId);
  return keysetPage(
    orderOfIds<'WebhookListener'>('webhookListeners'),
    request,
    ({ after, limit }) => selectListeners(store, account?.id ?? null, { afterId: after, limit }),
    (row) => ({
      ...toWebhookListener(gidNamespace, row),
      accountId: formatAccountGid(context, row.interfaceName, row.accountId),
      interfaceName: row.interfaceName,
    }),
  );
}

/**
 * Deletes any listener, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function deleteListenerOfAccount(
  { gidNamespace, store, operator }: OperatorContext,
  { listenerId }: { listenerId: string },
): Promise<{ deletedWebhookListenerId: string }> {
  const id: ListenerId | null = parseGid(gidNamespace, 'WebhookListener', listenerId);
  const isDeleted =
    id !== null &&
    (await store.transaction(async (transaction) => {
      const owner = await selectSubscriptionOwner(transaction, subscriptionIdOf(id), 'LISTENER');
      if (owner === null || !(await deleteListener(transaction, owner, id))) return false;
      await appendAuditEntry(transaction, operator, {
        action: 'webhook_listener.delete',
        subject: listenerId,
        account: { id: owner.accountId, interfaceName: owner.interfaceName },
      });
      return true;
    }));
  if (!isDeleted) throw new RefusedError('NOT_FOUND', `The listener ${listenerId} does not exist.`);
  return { deletedWebhookListenerId: listenerId };
}

/** Whether an account may create listeners, and how many it has. */
export interface ListenerPermission {
  /** The global identifier of the account. */
  accountId: string;
  /** Null if the account may create listeners. */
  forbiddenAt: Date | null;
  listeners: number;
}

/**
 * Forbids an account to create listeners, or allows it again. Its listeners stay.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function permitListeners(
  context: OperatorContext,
  { accountId: gid, isForbidden }: { accountId: string; isForbidden: boolean },
): Promise<ListenerPermission> {
  const { id, interfaceName } = await findAccount(context, null, gid);
  return context.store.transaction(async (transaction) => {
    // No request that found the account allowed creates a listener afterwards.
    await lockSubscriptionsOfAccount(transaction, id);
    await nameOperator(transaction, context.operator, isForbidden ? 'listener.forbid' : 'listener.allow');
    await forbidListeners(transaction, id, isForbidden);
    return {
      accountId: formatAccountGid(context, interfaceName, id),
      forbiddenAt: await selectListenersForbiddenAt(transaction, id),
      listeners: await countSubscriptions(transaction, id, 'LISTENER'),
    };
  });
}

import { formatGid, originOf, parseGid, type RequestHeader, type Service } from '@deedwire/core';
import type { SecretKeyRing } from '@deedwire/store';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import type { EventTypePin } from '@deedwire/webhooks/tables';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, Operator, OperatorContext, WebhookActionContext } from '../kernel/context.ts';
import {
  inputError,
  type MutationResult,
  noSuchSubscription,
  orRefuse,
  RefusedError,
  type UserError,
} from '../kernel/errors.ts';
import {
  deleteEventTypePins,
  dropSubscriptionHeader,
  insertEventTypePins,
  lockSubscription,
  selectSubscription,
  type StoredHeader,
  type SubscriptionOwner,
  type SubscriptionRow,
  updateSubscriptionHeader,
  updateSubscriptionName,
  updateSubscriptionTimeout,
  updateSubscriptionUrl,
} from '../webhooks/subscriptions/subscriptions.ts';
import { endPause, isReceiverFailing } from './pause-webhook-subscription.ts';
import { encryptHeader, findRequestHeaderErrors, type RequestHeaderErrorCode } from './request-headers.ts';
import { decryptSecret, secretUndecryptable } from './rotate-webhook-secret.ts';
import { requireSubscription } from './subscription-ref.ts';
import { type VerificationErrorCode, verifyCallbackUrl } from './verify-callback-url.ts';
import {
  chooseEventTypes,
  type EventTypeChoice,
  type EventTypesErrorCode,
  pinnableEventVersions,
  pinNames,
} from './webhook-event-types.ts';
import {
  findNameErrors,
  findTimeoutErrors,
  handshakeTarget,
  subscriptionNotFound,
  toWebhookSubscription,
  type WebhookSubscription,
} from './webhook-subscriptions.ts';

export type UpdateWebhookSubscriptionErrorCode =
  | EventTypesErrorCode
  | VerificationErrorCode
  | 'NAME_INVALID'
  | 'NOT_FOUND'
  | RequestHeaderErrorCode
  | 'TIMEOUT_INVALID';

/** `UpdateWebhookSubscriptionInput`. A field that is null or undefined stays unchanged, apart from `name` and `requestHeader`. */
export interface UpdateWebhookSubscriptionInput {
  id: string;
  callbackUrl?: string | null | undefined;
  eventTypes?: readonly EventTypeChoice[] | null | undefined;
  /** Null removes the name, and undefined leaves it unchanged. */
  name?: string | null | undefined;
  timeoutSeconds?: number | null | undefined;
  /** Null removes the header, and undefined leaves it unchanged, unless the callback URL moves to another origin. */
  requestHeader?: RequestHeader | null | undefined;
}

export type UpdateWebhookSubscriptionResult = MutationResult<
  { webhookSubscription: WebhookSubscription },
  UpdateWebhookSubscriptionErrorCode
>;

interface Change {
  /** Must be verified before it is saved. Null leaves the URL unchanged. */
  callbackUrl: string | null;
  /** The URL that the subscription must still have. Null if the caller has passed none, or a new one. */
  presentUrl: string | null;
  /** The pins that replace those of the subscription. Null leaves the event types unchanged. */
  eventTypes: ((pinned: readonly EventTypePin[]) => EventTypePin[]) | null;
  /** Null removes the name, and undefined leaves it unchanged. */
  name: string | null | undefined;
  /** Null leaves the timeout unchanged. */
  timeoutSeconds: number | null;
  /** Null removes the header, and undefined leaves it unchanged, unless the callback URL moves to another origin. */
  requestHeader: StoredHeader | null | undefined;
}

const noChange: Change = {
  callbackUrl: null,
  presentUrl: null,
  eventTypes: null,
  name: undefined,
  timeoutSeconds: null,
  requestHeader: undefined,
};

/** Changes the callback URL, the event types, the name, the timeout or the request header of a subscription. Verifies a new URL first. */
export async function updateWebhookSubscription(
  context: WebhookActionContext,
  caller: Caller,
  input: UpdateWebhookSubscriptionInput,
): Promise<UpdateWebhookSubscriptionResult> {
  const id = parseGid(context.gidNamespace, 'WebhookSubscription', input.id);
  const current = id === null ? null : await selectSubscription(context.store, caller.accountId, id);
  if (id === null || current === null) return reject([subscriptionNotFound]);

  const { requestHeader } = input;
  const { change, userErrors } = parseChange(context, caller, input, current);
  userErrors.push(...(await findRequestHeaderErrors(context, requestHeader)));
  if (userErrors.length > 0) return reject(userErrors);

  // For this URL, even if another update moves the subscription meanwhile.
  const callbackUrl = change.callbackUrl ?? current.callbackUrl;
  change.requestHeader = requestHeader && encryptHeader(context.secretKeys, { id, callbackUrl }, requestHeader);
  if (change.callbackUrl !== null) {
    const header = change.requestHeader === undefined ? current.requestHeader : change.requestHeader;
    const target = handshakeTarget(context.secretKeys, { ...current, requestHeader: header }, change.callbackUrl);
    const verificationError = await verifyCallbackUrl(context, caller, target);
    if (verificationError !== null) return reject([verificationError]);
  }

  const updated = await save(context, caller, { id, owner: caller, change });
  if (updated === null) return reject([subscriptionNotFound]);
  // Another update has moved the subscription since it was read, so the URL of the caller is a new one, which needs a handshake.
  if (updated === 'moved') return updateWebhookSubscription(context, caller, input);
  return { webhookSubscription: toWebhookSubscription(context.gidNamespace, updated), userErrors: [] };
}

function parseChange(
  context: WebhookActionContext,
  caller: Caller,
  input: UpdateWebhookSubscriptionInput,
  current: SubscriptionRow,
): { change: Change; userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[] } {
  const { name, timeoutSeconds = null } = input;
  const change: Change = { ...noChange, name, timeoutSeconds };
  const userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[] = [];
  if (input.callbackUrl !== null && input.callbackUrl !== undefined) {
    const url = context.sender.check(input.callbackUrl);
    if (!url.ok) userErrors.push(inputError(url.code, 'callbackUrl', url.message));
    // The same URL needs no handshake, unless the receiver failed: only a verified URL resumes the subscription.
    else if (url.href !== current.callbackUrl || isReceiverFailing(current.pausedReason)) change.callbackUrl = url.href;
    else change.presentUrl = url.href;
  }
  if (input.eventTypes !== null && input.eventTypes !== undefined) {
    const { eventTypes } = input;
    const now = context.now();
    const choose = (pinned: readonly EventTypePin[]) =>
      chooseEventTypes(context.service, caller.interfaceName, eventTypes, [...current.eventTypes, ...pinned], now);
    change.eventTypes = (pinned) => choose(pinned).eventTypes;
    userErrors.push(...choose([]).userErrors);
  }
  userErrors.push(...findNameErrors(name), ...findTimeoutErrors(timeoutSeconds));
  return { change, userErrors };
}

/** What an operator can change of a subscription. A field that is undefined stays unchanged. */
interface SubscriptionSettings {
  timeoutSeconds?: number | undefined;
  /** Null removes the header. */
  requestHeader?: RequestHeader | null | undefined;
}

/**
 * Changes the timeout or the request header of a subscription of any account, for an operator. Only a header needs the keys.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist, `INVALID` if a value is not valid or the keys do not decrypt the present secret,
 *   `CONFLICT` if no header can be set yet
 */
export async function changeSubscriptionSettings(
  context: OperatorContext & { secretKeys?: SecretKeyRing | undefined },
  subscriptionId: string,
  { timeoutSeconds, requestHeader }: SubscriptionSettings,
): Promise<WebhookSubscription> {
  const { gidNamespace, operator, secretKeys, store } = context;
  orRefuse({
    userErrors: [...findTimeoutErrors(timeoutSeconds), ...(await findRequestHeaderErrors(context, requestHeader))],
  });
  const owner = await requireSubscription(context, subscriptionId);
  const id = parseGid(gidNamespace, 'WebhookSubscription', subscriptionId);
  const current = id && (await selectSubscription(store, owner.accountId, id));
  if (id === null || current === null) throw noSuchSubscription(subscriptionId);
  const updated = await save(context, operator, {
    id,
    owner,
    change: {
      ...noChange,
      timeoutSeconds: timeoutSeconds ?? null,
      requestHeader: requestHeader && encryptHeader(keysFor(secretKeys, current), current, requestHeader),
    },
  });
  if (updated === null || updated === 'moved') throw noSuchSubscription(subscriptionId);
  return toWebhookSubscription(gidNamespace, updated);
}

/** Refuses keys that do not decrypt the present secret: the worker could not decrypt the header, and would send nothing. */
function keysFor(keys: SecretKeyRing | undefined, { id, secretCiphertext }: SubscriptionRow): SecretKeyRing {
  if (keys === undefined) throw new Error('A request header is encrypted with the keys of webhook secrets.');
  if (decryptSecret(keys, id, secretCiphertext) === null)
    throw new RefusedError(
      'INVALID',
      `${secretUndecryptable}. Set WEBHOOK_SECRET_KEYS as for the apps. If they cannot decrypt it either, rotate the secret with an overlap of 0 first.`,
    );
  return keys;
}

/** Returns null if the subscription has been deleted since it was read, and `moved` if it does not have the present URL any longer. */
async function save(
  context: ActionContext,
  by: Caller | Operator,
  {
    id,
    owner: { accountId, interfaceName },
    change,
  }: { id: SubscriptionRow['id']; owner: SubscriptionOwner; change: Change },
): Promise<SubscriptionRow | 'moved' | null> {
  return context.store.transaction(async (transaction) => {
    const locked = await lockSubscription(transaction, accountId, id);
    if (locked === null) return null;
    if (change.presentUrl !== null && locked.callbackUrl !== change.presentUrl) return 'moved';
    let isHeaderDropped = false;
    if (change.callbackUrl !== null) {
      await updateSubscriptionUrl(transaction, id, change.callbackUrl);
      if (originOf(locked.callbackUrl) !== originOf(change.callbackUrl))
        isHeaderDropped = (await dropSubscriptionHeader(transaction, id)) && change.requestHeader === undefined;
      await endPause(transaction, locked, { isUrlVerified: true, arePinsServed: false, byOwner: false });
    }
    let pins: PinsChange = { eventTypesChanged: false };
    if (change.eventTypes !== null) {
      // Another update can have moved a pin since, for example during the handshake: a type without a version keeps it.
      const pinned = (await selectSubscription(transaction, accountId, id))?.eventTypes ?? [];
      const eventTypes = change.eventTypes(pinned);
      pins = comparePins(pinned, eventTypes);
      await deleteEventTypePins(transaction, id);
      await insertEventTypePins(transaction, { id, interfaceName }, eventTypes);
      const arePinsServed = arePinnable(context.service, eventTypes, context.now());
      await endPause(transaction, locked, { isUrlVerified: false, arePinsServed, byOwner: false });
    }
    if (change.name !== undefined) await updateSubscriptionName(transaction, id, change.name);
    if (change.timeoutSeconds !== null) await updateSubscriptionTimeout(transaction, id, change.timeoutSeconds);
    if (change.requestHeader !== undefined) await updateSubscriptionHeader(transaction, id, change.requestHeader);
    await appendAuditEntry(transaction, by, {
      action: 'webhook_subscription.update',
      subject: formatGid(context.gidNamespace, 'WebhookSubscription', id),
      account: { id: accountId, interfaceName },
      details: {
        callbackUrlChanged: change.callbackUrl !== null,
        ...pins,
        nameChanged: change.name !== undefined,
        ...(change.timeoutSeconds !== null && { timeoutSeconds: change.timeoutSeconds }),
        ...(isHeaderDropped && { requestHeaderDropped: true }),
        ...(change.requestHeader !== undefined && { requestHeaderName: change.requestHeader?.name ?? null }),
      },
    });
    const { callbackUrl, eventTypes, timeoutSeconds, requestHeader } = change;
    if (callbackUrl !== null || eventTypes !== null || timeoutSeconds !== null || requestHeader !== undefined) {
      await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId: id });
    }
    return selectSubscription(transaction, accountId, id);
  });
}

/** What an audit entry says of the event types. */
interface PinsChange {
  eventTypesChanged: boolean;
  eventTypesAdded?: string[];
  eventTypesRemoved?: string[];
}

function comparePins(before: readonly EventTypePin[], after: readonly EventTypePin[]): PinsChange {
  const [old, present] = [pinNames(before), pinNames(after)];
  const added = present.filter((pin) => !old.includes(pin));
  const removed = old.filter((pin) => !present.includes(pin));
  return {
    eventTypesChanged: added.length > 0 || removed.length > 0,
    ...(added.length > 0 && { eventTypesAdded: added }),
    ...(removed.length > 0 && { eventTypesRemoved: removed }),
  };
}

/** A version that this build does not know counts as retired: its retirement may have removed it. */
function arePinnable(service: Service, eventTypes: readonly EventTypePin[], now: Date): boolean {
  return eventTypes.every(({ type, version }) => pinnableEventVersions(service, type, now).includes(version));
}

function reject(userErrors: UserError<UpdateWebhookSubscriptionErrorCode>[]): UpdateWebhookSubscriptionResult {
  return { webhookSubscription: null, userErrors };
}

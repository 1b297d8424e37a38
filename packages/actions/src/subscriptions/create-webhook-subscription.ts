import { type RequestHeader, secretAssociatedData, timeoutDefaultSeconds } from '@deedwire/core';
import { generateWebhookSecret, isWebhookSecret } from '@deedwire/webhook-signing';
import type { EventTypePin } from '@deedwire/webhooks/tables';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { Caller, WebhookActionContext } from '../kernel/context.ts';
import { inputError, type MutationResult, type UserError, type IdempotencyErrorCode } from '../kernel/errors.ts';
import { resultOf, type SaveResult, withIdempotencyKey } from '../kernel/idempotency.ts';
import {
  insertEventTypePins,
  countSubscriptions,
  insertSubscription,
  lockSubscriptionsOfAccount,
  reserveSubscriptionId,
  selectSubscription,
} from '../webhooks/subscriptions/subscriptions.ts';
import { encryptHeader, findRequestHeaderErrors, type RequestHeaderErrorCode } from './request-headers.ts';
import { type VerificationErrorCode, verifyCallbackUrl } from './verify-callback-url.ts';
import { chooseEventTypes, type EventTypeChoice, type EventTypesErrorCode, pinNames } from './webhook-event-types.ts';
import {
  findNameErrors,
  findTimeoutErrors,
  webhookSecretInvalid,
  savedSubscription,
  webhookSubscriptionCodec,
  createMutation,
  toWebhookSubscription,
  type WebhookSubscription,
} from './webhook-subscriptions.ts';

export type CreateWebhookSubscriptionErrorCode =
  | EventTypesErrorCode
  | IdempotencyErrorCode
  | VerificationErrorCode
  | 'LIMIT_REACHED'
  | 'NAME_INVALID'
  | RequestHeaderErrorCode
  | 'TIMEOUT_INVALID'
  | 'WEBHOOK_SECRET_INVALID';

/** `CreateWebhookSubscriptionInput`. A field that is null or undefined is not set. */
export interface CreateWebhookSubscriptionInput {
  callbackUrl: string;
  eventTypes: readonly EventTypeChoice[];
  webhookSecret?: string | null | undefined;
  name?: string | null | undefined;
  timeoutSeconds?: number | null | undefined;
  requestHeader?: RequestHeader | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export type CreateWebhookSubscriptionResult = MutationResult<
  { webhookSubscription: WebhookSubscription; webhookSecret: string },
  CreateWebhookSubscriptionErrorCode
>;

const subscriptionsPerAccount = 20;

const limitReached: UserError<'LIMIT_REACHED'> = {
  code: 'LIMIT_REACHED',
  message: `The account has reached its limit of ${subscriptionsPerAccount} subscriptions. Delete one first.`,
  field: null,
};

/** Verifies a callback URL and subscribes it to events. Creates nothing if the handshake fails. */
export async function createWebhookSubscription(
  context: WebhookActionContext,
  caller: Caller,
  input: CreateWebhookSubscriptionInput,
): Promise<CreateWebhookSubscriptionResult> {
  const request = {
    mutation: createMutation,
    key: input.idempotencyKey,
    ...hashedInput(context, caller, input),
    codec: webhookSubscriptionCodec,
  };
  const created = await withIdempotencyKey(context, caller, request, (saveResult) =>
    verifyAndCreate(context, caller, input, saveResult),
  );
  return resultOf(created, {
    repeat: (saved) => ({ ...savedSubscription(context, saved), userErrors: [] }),
    reject,
    findInputErrors: async () => (await checkInput(context, caller, input)).userErrors,
  });
}

/**
 * A login of the interface can read the hash of an input, and try values offline, which a value of an account's own choice may not resist.
 * So the value of the header is hashed with the current key of the ring. A repeat after that key was replaced is recognized as long as the
 * ring has the key.
 */
function hashedInput(
  { secretKeys }: WebhookActionContext,
  { accountId }: Caller,
  { callbackUrl, eventTypes, webhookSecret, name, timeoutSeconds, requestHeader }: CreateWebhookSubscriptionInput,
): { input: object; sameInputs: object[] } {
  const input = {
    callbackUrl,
    eventTypes: eventTypes.map(({ type, version }) => [type, version ?? null]),
    webhookSecret: webhookSecret ?? null,
    // A key of an API of an earlier release, which knows none of these, stays the same.
    ...(name !== null && name !== undefined && { name }),
    ...(timeoutSeconds !== null && timeoutSeconds !== undefined && { timeoutSeconds }),
  };
  if (requestHeader === null || requestHeader === undefined) return { input, sameInputs: [] };
  const withDigest = (digest: string): object => ({ ...input, requestHeader: [requestHeader.name, digest] });
  const [current, ...others] = secretKeys.digests(requestHeader.value, `idempotency-key:${accountId}`);
  return { input: withDigest(current), sameInputs: others.map(withDigest) };
}

interface CheckedInput {
  /** Valid if there is no user error, as are the others. */
  url: string;
  eventTypes: EventTypePin[];
  webhookSecret: string;
  userErrors: UserError<CreateWebhookSubscriptionErrorCode>[];
}

/** Finds everything that is wrong without a handshake. */
async function checkInput(
  context: WebhookActionContext,
  caller: Caller,
  input: CreateWebhookSubscriptionInput,
): Promise<CheckedInput> {
  const userErrors: UserError<CreateWebhookSubscriptionErrorCode>[] = [];
  const url = context.sender.check(input.callbackUrl);
  if (!url.ok) userErrors.push(inputError(url.code, 'callbackUrl', url.message));
  const choice = chooseEventTypes(context.service, caller.interfaceName, input.eventTypes, [], context.now());
  userErrors.push(...choice.userErrors);
  const webhookSecret = input.webhookSecret ?? generateWebhookSecret();
  if (!isWebhookSecret(webhookSecret)) {
    userErrors.push(webhookSecretInvalid(webhookSecret));
  }
  userErrors.push(
    ...findNameErrors(input.name),
    ...findTimeoutErrors(input.timeoutSeconds),
    ...(await findRequestHeaderErrors(context, input.requestHeader)),
  );
  // Checked again under a lock before the subscription is saved.
  const count = await countSubscriptions(context.store, caller.accountId);
  if (count >= subscriptionsPerAccount) userErrors.push(limitReached);
  return { url: url.ok ? url.href : '', eventTypes: choice.eventTypes, webhookSecret, userErrors };
}

async function verifyAndCreate(
  context: WebhookActionContext,
  caller: Caller,
  input: CreateWebhookSubscriptionInput,
  saveResult: SaveResult<WebhookSubscription>,
): Promise<CreateWebhookSubscriptionResult> {
  const { url, eventTypes, webhookSecret, userErrors } = await checkInput(context, caller, input);
  if (userErrors.length > 0) return reject(userErrors);
  const { requestHeader = null } = input;
  const target = { url, secret: webhookSecret, secretHeader: requestHeader ?? undefined };
  const verificationError = await verifyCallbackUrl(context, caller, target);
  if (verificationError !== null) return reject([verificationError]);

  return context.store.transaction(async (transaction) => {
    await lockSubscriptionsOfAccount(transaction, caller.accountId);
    if ((await countSubscriptions(transaction, caller.accountId)) >= subscriptionsPerAccount) {
      return reject([limitReached]);
    }
    const id = await reserveSubscriptionId(transaction);
    const secretCiphertext = context.secretKeys.encrypt(webhookSecret, secretAssociatedData(id));
    await insertSubscription(transaction, {
      id,
      accountId: caller.accountId,
      interfaceName: caller.interfaceName,
      name: input.name ?? null,
      callbackUrl: url,
      secretCiphertext,
      timeoutSeconds: input.timeoutSeconds ?? timeoutDefaultSeconds,
      requestHeader: requestHeader && encryptHeader(context.secretKeys, { id, callbackUrl: url }, requestHeader),
    });
    await insertEventTypePins(transaction, { id, interfaceName: caller.interfaceName }, eventTypes);
    const row = await selectSubscription(transaction, caller.accountId, id);
    if (row === null) throw new Error(`The subscription ${id} does not exist after its insert.`);
    const webhookSubscription = toWebhookSubscription(context.gidNamespace, row);
    await appendAuditEntry(transaction, caller, {
      action: 'webhook_subscription.create',
      subject: webhookSubscription.id,
      account: { id: caller.accountId, interfaceName: caller.interfaceName },
      details: { eventTypes: pinNames(eventTypes) },
    });
    await saveResult(transaction, { payload: webhookSubscription, secretCiphertext, recordId: id });
    return { webhookSubscription, webhookSecret, userErrors: [] };
  });
}

function reject(userErrors: UserError<CreateWebhookSubscriptionErrorCode>[]): CreateWebhookSubscriptionResult {
  return { webhookSubscription: null, webhookSecret: null, userErrors };
}
